// SPDX-License-Identifier: MIT
// Filters the system calls of a child process by seccomp, as a container or a
// service manager does. The filter cannot be removed. Use this filter in tests
// of code that reacts to a system call that fails.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CANNOT_FORBID 77 // exit status if seccomp filters are not available

// Makes a filter in which the listed system calls (at most 14) get the result
// `answer`. `answer` is a SECCOMP_RET_ value. The filter lets all other system
// calls pass.
static inline bool forbid(const int *calls, unsigned count, uint32_t answer)
{
    struct sock_filter code[32], *at = code;
    struct sock_fprog program = {0, code};

    *at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                         offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++) {
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                             (unsigned)calls[i], 0, 1);
        *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    }
    *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = (unsigned short)(at - code);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs `check` in a child process with the filter. Returns the child's wait
// status, or -1 if no child could be made.
static inline int wait_for_caged(const int *calls, unsigned count,
                                 uint32_t answer, int (*check)(void))
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(forbid(calls, count, answer) ? check() : CANNOT_FORBID);
    waitpid(pid, &status, 0);
    return status;
}

// Runs `check` in a child in which these system calls fail with EPERM. Returns
// its exit status, or -1 if a signal has killed the child. If `count` is 0, no
// call fails.
static inline int in_a_cage(const int *calls, unsigned count,
                            int (*check)(void))
{
    int status = wait_for_caged(calls, count, SECCOMP_RET_ERRNO | EPERM, check);

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Checks that the child exits with 0. Skips the test if filters are not
// available.
static inline void expect_in_a_cage(const int *calls, unsigned count,
                                    int (*check)(void))
{
    int status = in_a_cage(calls, count, check);

    if (status == CANNOT_FORBID)
        skip();
    assert_int_equal(status, 0);
}
