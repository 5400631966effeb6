// SPDX-License-Identifier: MIT
// Compares Bpf_run() with the kernel on random seccomp filters. The result of a
// filter is the errno that it gives a system call.
#define _GNU_SOURCE 1 // for syscall()
#include "tui/attach/bpf.h"

#include "tests/random.h"

#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif
#define PROGRAMS 400
#define LENGTH 24
// The filters are about this system call, which nothing else here makes.
#define CALLED SYS_getpgid

static const uint64_t arguments[6] = {0x123456789abcdef0, 7, 0, ~0ull, 1, 2};

static struct seccomp_data call(void)
{
    struct seccomp_data data = {.nr = CALLED, .arch = MACHINE};
    memcpy(data.args, arguments, sizeof arguments);
    return data;
}

// clang-format off
#define WITH_BOTH(code) (code) | BPF_K, (code) | BPF_X
static const uint16_t codes[] = {
    BPF_LD | BPF_IMM, BPF_LD | BPF_MEM, BPF_LD | BPF_W | BPF_LEN,
    BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_W | BPF_ABS,
    BPF_LDX | BPF_IMM, BPF_LDX | BPF_MEM, BPF_LDX | BPF_W | BPF_LEN,
    BPF_ST, BPF_STX, BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA,
    BPF_ALU | BPF_NEG, WITH_BOTH(BPF_ALU | BPF_ADD),
    WITH_BOTH(BPF_ALU | BPF_SUB), WITH_BOTH(BPF_ALU | BPF_MUL),
    WITH_BOTH(BPF_ALU | BPF_DIV), WITH_BOTH(BPF_ALU | BPF_AND),
    WITH_BOTH(BPF_ALU | BPF_OR), WITH_BOTH(BPF_ALU | BPF_XOR),
    WITH_BOTH(BPF_ALU | BPF_LSH), WITH_BOTH(BPF_ALU | BPF_RSH),
    BPF_JMP | BPF_JA, WITH_BOTH(BPF_JMP | BPF_JEQ),
    WITH_BOTH(BPF_JMP | BPF_JGT), WITH_BOTH(BPF_JMP | BPF_JGE),
    WITH_BOTH(BPF_JMP | BPF_JSET),
};
// clang-format on

static uint32_t below(size_t most)
{
    return (uint32_t)(random_u64() >> 32) % (uint32_t)most;
}

static void make_step(struct sock_filter *step, uint32_t left)
{
    uint32_t small = below(40);
    *step =
        (struct sock_filter){.code = codes[below(sizeof codes / sizeof *codes)],
                             .k = below(2) ? small : (uint32_t)random_u64()};
    uint16_t class = BPF_CLASS(step->code), operation = BPF_OP(step->code);
    if (class == BPF_ST || class == BPF_STX ||
        (class <= BPF_LDX && BPF_MODE(step->code) == BPF_MEM))
        // Only these words of memory, which are often stored.
        step->k = small % 3;
    else if (class <= BPF_LDX && BPF_MODE(step->code) == BPF_ABS)
        step->k = small % 12 * 4; // offsets 8 and 12 are replaced below
    if (class <= BPF_LDX && BPF_MODE(step->code) == BPF_ABS && step->k == 8)
        step->k = 0;
    if (class <= BPF_LDX && BPF_MODE(step->code) == BPF_ABS && step->k == 12)
        step->k = 4;
    if (class == BPF_ALU && operation == BPF_DIV && !step->k)
        step->k = 3; // the kernel rejects a division by the constant 0
    if (class == BPF_ALU && (operation == BPF_LSH || operation == BPF_RSH))
        step->k = small % 32;
    if (class == BPF_JMP && operation == BPF_JA)
        step->k = small % left;
    else if (class == BPF_JMP) {
        step->jt = (uint8_t)below(left);
        step->jf = (uint8_t)below(left);
    }
}

// Makes a random filter, which returns an errno made from the bits of the
// register A. The filter allows all system calls except CALLED. First it writes
// all of its memory, because the kernel rejects a filter that reads a word
// before it was written.
static size_t make_program(struct sock_filter *code)
{
    static const struct sock_filter begin[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLED, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_ST, 0),
        BPF_STMT(BPF_ST, 1),
        BPF_STMT(BPF_ST, 2),
    };
    static const struct sock_filter end[] = {
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 11),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 2047),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    size_t count = sizeof begin / sizeof *begin;
    memcpy(code, begin, sizeof begin);
    for (uint32_t i = 0; i < LENGTH; i++)
        make_step(&code[count++], LENGTH - i);
    memcpy(code + count, end, sizeof end);
    return count + sizeof end / sizeof *end;
}

// Runs the filter in a child. Returns the errno of the call, or the negative
// number of the signal that killed the child.
static int ask_kernel(struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, code};
    int ends[2], got = 0, status;
    assert_return_code(pipe(ends), errno);
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            _exit(77); // the kernel of this machine has no seccomp filters
        errno = 0;
        syscall(CALLED, arguments[0], arguments[1], arguments[2], arguments[3],
                arguments[4], arguments[5]);
        got = errno;
        _exit(write(ends[1], &got, sizeof got) != sizeof got);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], &got, sizeof got);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return -WTERMSIG(status);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(size, sizeof got);
    return got;
}

TEST(test_as_the_kernel)
{
    struct sock_filter code[64];
    const struct seccomp_data data = call();
    int different = 0, last = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        size_t count = make_program(code);
        uint32_t ours = Bpf_run(code, count, &data);
        int theirs = ask_kernel(code, count);
        if (theirs == -SIGSYS) // a division by 0
            assert_true(Bpf_kills(ours));
        else
            assert_int_equal(ours, SECCOMP_RET_ERRNO | (uint32_t)theirs);
        different += theirs != last;
        last = theirs;
    }
    assert_true(different > PROGRAMS / 4);
}

static uint32_t run(const struct sock_filter *code, size_t count)
{
    const struct seccomp_data data = call();
    return Bpf_run(code, count, &data);
}

TEST(test_garbage_kills)
{
    struct sock_filter code[2] = {{0}, BPF_STMT(BPF_RET | BPF_K, 1)};
    assert_int_equal(run(code, 0), SECCOMP_RET_KILL_PROCESS);
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64);
    assert_int_equal(run(code, 2), SECCOMP_RET_KILL_PROCESS);
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS);
    assert_int_equal(run(code, 2), SECCOMP_RET_KILL_PROCESS);
    code[0] = (struct sock_filter)BPF_STMT(BPF_STX, ~0u);
    assert_int_equal(run(code, 2), SECCOMP_RET_KILL_PROCESS);
    code[0] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, ~0u - 1);
    assert_int_equal(run(code, 2), SECCOMP_RET_KILL_PROCESS);
}

TEST(test_which_kill)
{
    assert_true(Bpf_kills(SECCOMP_RET_KILL_PROCESS));
    assert_true(Bpf_kills(SECCOMP_RET_KILL_THREAD));
    assert_true(Bpf_kills(SECCOMP_RET_TRAP | 5));
    // A filter with an unknown action kills the process, as in the kernel.
    assert_true(Bpf_kills(0x12340000));
    assert_false(Bpf_kills(SECCOMP_RET_ALLOW));
    assert_false(Bpf_kills(SECCOMP_RET_ERRNO | EPERM));
    assert_false(Bpf_kills(SECCOMP_RET_LOG));
    assert_false(Bpf_kills(SECCOMP_RET_TRACE));
    assert_false(Bpf_kills(SECCOMP_RET_USER_NOTIF));
}
