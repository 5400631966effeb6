// SPDX-License-Identifier: MIT
// The system call rt_sigreturn loads all registers from a signal frame on the
// stack. Ocular writes two such frames on the stack of a thread. The first
// frame contains the registers for calling a function. The function returns to
// code that calls rt_sigreturn again, with the second frame. The second frame
// contains the registers that the thread had while it slept.
#define _GNU_SOURCE 1 // struct sigcontext, prlimit
#include "tui/attach/sigframe.h"

#include <errno.h>

#ifdef __x86_64__

#include "ipc/process.h"
#include "tui/attach/process_memory.h"

#include <cpuid.h>
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#define RED_ZONE 128 // Bytes below the stack pointer that a function may use.
#define ROOM 0x10000 // Bytes of stack that the called function gets.
// The search for frames of other signals covers SCAN bytes of the stack.
#define SCAN 0x10000
#define CHUNK 0x10000 // Number of bytes of code that one read gets.
// sigaltstack() fails for these invalid flags, and then changes nothing.
#define NO_STACK 0x5555
#define XSTATE_MOST 0x4000
#define FX_SIZE 512
#define FX_SOFTWARE 464 // Offset of the bytes that belong to the kernel.
#define FX_BEGINS 0x46505853u
#define FX_ENDS 0x46505845u
// Segment register of 64-bit code. STACK_SEGMENT is the segment register of the
// stack.
#define CODE_SEGMENT 0x33
#define STACK_SEGMENT 0x2b

// Inside the kernel, a system call that a signal has interrupted has one of
// these results.
enum { RESTART_FIRST = 512, RESTART_NOHAND = 514, RESTART_BLOCK = 516 };

#define BIT(signal) (1ull << ((signal)-1))
// While the thread runs the function, it blocks these signals. The thread does
// not block the signals of faults. The thread also does not block the signals
// of setuid() and pthread_cancel(), because these functions wait for every
// thread. SIGSTKFLT is not blocked, so that the mask differs from the mask of
// any program. (No program sends SIGSTKFLT.) A thread with exactly this mask
// runs a function that Ocular has called.
static const uint64_t held_back =
    ~(BIT(SIGKILL) | BIT(SIGSTOP) | BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) |
      BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS) | BIT(32) | BIT(33) |
      BIT(SIGSTKFLT));

// struct Frame contains those members of the kernel's struct rt_sigframe that
// rt_sigreturn reads.
struct Frame {
    uint64_t restorer; // Return address for the function.
    uint64_t flags;    // HAS_XSTATE and HAS_STACK_SEGMENT
    uint64_t link;
    uint64_t stack;
    uint32_t stack_flags, padding;
    uint64_t stack_size;
    struct sigcontext registers;
    uint64_t mask;
    uint64_t alignment;
};
_Static_assert(sizeof(struct Frame) % 16 == 0, "frames keep the stack aligned");

#define HAS_XSTATE 1
#define HAS_STACK_SEGMENT 6 // UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS

// --- Checks of the thread

struct Mapping {
    uint64_t start, end;
    bool executable, main_stack;
};

static bool find_mapping(struct Mapping *found, pid_t pid, uint64_t address)
{
    char path[64], *line = NULL;
    size_t size = 0;
    bool is_there = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && !is_there && getline(&line, &size, maps) > 0) {
        unsigned long long start, end;
        char rights[5];
        if (sscanf(line, "%llx-%llx %4s", &start, &end, rights) != 3)
            continue;
        is_there = address >= start && address < end;
        *found = (struct Mapping){start, end, rights[2] == 'x',
                                  strstr(line, "[stack]") != NULL};
    }
    free(line);
    if (maps)
        fclose(maps);
    return is_there;
}

// glibc and musl contain the code `mov $15, %rax; syscall`.
static const unsigned char glibc[] = {0x48, 0xc7, 0xc0, 15,  0,
                                      0,    0,    0x0f, 0x05};
static const unsigned char musl[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};

static bool is_restorer(pid_t pid, uint64_t address)
{
    unsigned char code[sizeof glibc];
    return !ProcessMemory_read(pid, address, code, sizeof code) &&
           (memcmp(code, glibc, sizeof glibc) == 0 ||
            memcmp(code, musl, sizeof musl) == 0);
}

// Returns the address of the C library's code for rt_sigreturn in the mapping,
// or 0.
static uint64_t find_restorer(pid_t pid, const struct Mapping *code)
{
    unsigned char *bytes = malloc(CHUNK);
    uint64_t found = 0;
    for (uint64_t at = code->start; bytes && !found && at < code->end;
         at += CHUNK - sizeof glibc) {
        size_t size = code->end - at < CHUNK ? code->end - at : CHUNK;
        if (ProcessMemory_read(pid, at, bytes, size))
            break;
        const unsigned char *here = memmem(bytes, size, glibc, sizeof glibc);
        if (!here)
            here = memmem(bytes, size, musl, sizeof musl);
        found = here ? at + (uint64_t)(here - bytes) : 0;
    }
    free(bytes);
    return found;
}

// Returns true if ROOM bytes are free below the stack pointer.
static bool has_room(pid_t pid, const struct Mapping *stack, uint64_t pointer)
{
    struct rlimit limit;
    if (!stack->main_stack)
        return pointer - stack->start >= ROOM;
    return prlimit(pid, RLIMIT_STACK, NULL, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY ||
            stack->end - pointer + ROOM < limit.rlim_cur);
}

// Returns true if a signal frame is on the stack. The signal handler of such a
// frame may have interrupted malloc() or other code that cannot be called
// again.
static bool is_in_handler(const struct Sleep *sleep,
                          const struct Mapping *stack, uint64_t pointer)
{
    uint64_t size = stack->end - pointer;
    size = (size < SCAN ? size : SCAN) & ~7ull;
    unsigned char *bytes = malloc(size);
    bool found =
        !bytes || ProcessMemory_read(sleep->pid, pointer & ~7ull, bytes, size);
    for (size_t at = 0; !found && at + sizeof(struct Frame) <= size; at += 8) {
        struct Frame frame;
        memcpy(&frame, bytes + at, sizeof frame);
        found = frame.restorer == sleep->restorer &&
                frame.registers.cs == CODE_SEGMENT &&
                // A frame with NO_STACK was left by Ocular.
                frame.stack_flags != NO_STACK;
    }
    free(bytes);
    return found;
}

// Returns true if the thread has a shadow stack (with which the CPU checks
// return addresses), or if this is not known.
static bool has_shadow_stack(const struct Sleep *sleep)
{
    char status[PROCESS_STATUS];
    return !Process_status(sleep->thread, status) ||
           strstr(Process_row(status, "\nx86_Thread_features:"), "shstk");
}

static bool is_interrupted(struct Sleep *sleep,
                           const struct user_regs_struct *registers)
{
    long result = -(long)registers->rax;
    unsigned char code[2];
    sleep->number = (long)registers->orig_rax;
    sleep->arguments[0] = registers->rdi;
    sleep->arguments[1] = registers->rsi;
    // FUTEX_WAIT_BITSET can be restarted, because its argument is not a
    // duration but the time at which it ends.
    sleep->repeats = (result >= RESTART_FIRST && result <= RESTART_NOHAND) ||
                     (result == RESTART_BLOCK && sleep->number == SYS_futex);
    return (sleep->repeats || result == RESTART_BLOCK || result == EINTR) &&
           sleep->number >= 0 && registers->cs == CODE_SEGMENT &&
           !ProcessMemory_read(sleep->pid, registers->rip - 2, code,
                               sizeof code) &&
           code[0] == 0x0f && code[1] == 0x05;
}

static bool read_mask(pid_t thread, uint64_t *mask)
{
    return ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof *mask, mask) == 0;
}

bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread)
{
    struct user_regs_struct registers;
    struct Mapping code, stack;
    uint64_t mask;
    *sleep = (struct Sleep){.pid = pid, .thread = thread};
    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) < 0 ||
        !read_mask(thread, &mask))
        return false;
    sleep->called = mask == held_back || is_restorer(pid, registers.rip);
    if (sleep->called)
        return true;
    if (!is_interrupted(sleep, &registers) || has_shadow_stack(sleep) ||
        !find_mapping(&code, pid, registers.rip) || !code.executable ||
        !find_mapping(&stack, pid, registers.rsp) ||
        !has_room(pid, &stack, registers.rsp))
        return false;
    sleep->restorer = find_restorer(pid, &code);
    return sleep->restorer && !is_in_handler(sleep, &stack, registers.rsp);
}

// --- The two frames

// struct Stack is the data that Ocular writes below the thread's stack pointer.
struct Stack {
    // Makes the address of each frame a multiple of 16, plus 8.
    uint64_t alignment;
    struct Frame call, back;
    _Alignas(64) unsigned char xstate[XSTATE_MOST];
};

// Reads the vector registers in the format of a signal frame. Leaves out the
// AMX registers, because the kernel may have no memory for them in this thread.
// Returns 0 or -errno.
static int read_xstate(struct Stack *stack, pid_t thread)
{
    struct iovec out = {stack->xstate, sizeof stack->xstate};
    uint64_t features;
    uint32_t size = FX_SIZE + 64, a, b, c, d;
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &out) < 0)
        return -errno;
    memcpy(&features, stack->xstate + FX_SOFTWARE, sizeof features);
    features &= 0x1ffff;
    for (unsigned i = 2; i < 17; i++) {
        if (features >> i & 1 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) &&
            b + a > size)
            size = b + a;
    }
    if (size > out.iov_len || size + 4 > sizeof stack->xstate)
        return -E2BIG;
    const struct {
        uint32_t begins, whole;
        uint64_t features;
        uint32_t size, padding[7];
    } software = {FX_BEGINS, size + 4, features, size, {0}};
    const uint32_t ends = FX_ENDS;
    _Static_assert(sizeof software == FX_SIZE - FX_SOFTWARE, "all of it");
    memcpy(stack->xstate + FX_SOFTWARE, &software, sizeof software);
    memcpy(stack->xstate + size, &ends, sizeof ends);
    return 0;
}

static struct Frame make_frame(const struct Sleep *sleep)
{
    struct Frame frame = {
        .restorer = sleep->restorer,
        .flags = HAS_STACK_SEGMENT,
        .stack_flags = NO_STACK,
        .mask = held_back,
    };
    frame.registers.cs = CODE_SEGMENT;
    frame.registers.__pad0 = STACK_SEGMENT;
    return frame;
}

// Makes the second frame, which makes the thread return to its system call, or
// to the instruction after it.
static struct Frame make_last(const struct Sleep *sleep,
                              const struct user_regs_struct *from)
{
    struct Frame frame = make_frame(sleep);
    struct sigcontext *to = &frame.registers;
    to->r8 = from->r8, to->r9 = from->r9, to->r10 = from->r10;
    to->r11 = from->r11, to->r12 = from->r12, to->r13 = from->r13;
    to->r14 = from->r14, to->r15 = from->r15, to->rdi = from->rdi;
    to->rsi = from->rsi, to->rbp = from->rbp, to->rbx = from->rbx;
    to->rdx = from->rdx, to->rcx = from->rcx, to->rsp = from->rsp;
    to->eflags = from->eflags;
    to->rax = sleep->repeats ? from->orig_rax : (uint64_t)-EINTR;
    to->rip = sleep->repeats ? from->rip - 2 : from->rip;
    frame.flags |= HAS_XSTATE;
    return frame;
}

// Writes both frames below the stack pointer, and sets the stack pointer to the
// address that rt_sigreturn expects. Returns 0 or -errno.
static int write_stack(struct Stack *stack, const struct Sleep *sleep,
                       const struct SigframeCall *call,
                       struct user_regs_struct *registers)
{
    uint64_t top = (registers->rsp - RED_ZONE - sizeof *stack) & ~63ull;
    uint64_t xstate = top + offsetof(struct Stack, xstate);
    int error = read_xstate(stack, sleep->thread);
    stack->back = make_last(sleep, registers);
    memcpy(&stack->back.registers.fpstate, &xstate, sizeof xstate);
    if (!error && !read_mask(sleep->thread, &stack->back.mask))
        error = -errno;
    stack->call = make_frame(sleep);
    struct sigcontext *to = &stack->call.registers;
    to->rip = call->function;
    to->rdi = call->arguments[0], to->rsi = call->arguments[1];
    to->rdx = call->arguments[2], to->rcx = call->arguments[3];
    to->r8 = call->arguments[4], to->r9 = call->arguments[5];
    to->rsp = top + offsetof(struct Stack, back);
    if (!error)
        error = ProcessMemory_write(sleep->pid, top, stack, sizeof *stack);
    registers->rsp = top + offsetof(struct Stack, call.flags);
    return error;
}

int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call)
{
    struct user_regs_struct registers;
    struct Stack *stack = aligned_alloc(64, sizeof *stack);
    int error = stack ? 0 : -ENOMEM;
    if (stack)
        memset(stack, 0, sizeof *stack);
    if (!error && ptrace(PTRACE_GETREGS, sleep->thread, NULL, &registers) < 0)
        error = -errno;
    if (!error)
        error = write_stack(stack, sleep, call, &registers);
    registers.rip = sleep->restorer;
    // This number tells the kernel not to restart a system call.
    registers.orig_rax = (unsigned long long)-1;
    if (!error && ptrace(PTRACE_SETREGS, sleep->thread, NULL, &registers) < 0)
        error = -errno;
    free(stack);
    return error;
}

#else

bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread)
{
    *sleep = (struct Sleep){.pid = pid, .thread = thread};
    return false;
}

int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call)
{
    (void)sleep, (void)call;
    return -ENOTSUP;
}

#endif
