// SPDX-License-Identifier: MIT
// Tests that all threads of a process are stopped, even while some threads
// start and others end.
#define _GNU_SOURCE 1
#include "tui/attach/stop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sanitizers.h"
#include "tests/unit.h"

#define MAKERS 4
#define TIMES 1000 // Without has_ended(), one round in 3000 fails.

static void *end_at_once(void *none)
{
    return none;
}

static void *make_threads(void *none)
{
    for (;;) {
        pthread_t thread;
        if (!pthread_create(&thread, NULL, end_at_once, none))
            pthread_join(thread, NULL);
    }
    return none;
}

static pid_t start(void *(*work)(void *))
{
    int ends[2];
    char there;
    assert_return_code(pipe(ends), errno);
    pid_t child = fork();
    close(ends[child ? 1 : 0]);
    if (child) {
        assert_int_equal(read(ends[0], &there, 1), 1);
        close(ends[0]);
        return child;
    }
    // If a failed assertion ends the parent, the kernel kills the child.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < MAKERS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
    }
    if (write(ends[1], "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

TEST(test_while_threads_end)
{
    struct Stop stop;
    char why[512] = "";
    pid_t child = start(make_threads);
    int error = Stop_all(&stop, child, why, sizeof why);
    if (error == -EPERM) {
        end(child);
        skip(); // The kernel forbids ptrace in this test.
    }
    for (int i = 0; i < FEWER(TIMES) && !error; i++) {
        assert_true(stop.count > MAKERS);
        Stop_release(&stop);
        error = Stop_all(&stop, child, why, sizeof why);
    }
    if (!error)
        Stop_release(&stop);
    end(child);
    assert_string_equal(why, "");
    assert_int_equal(error, 0);
}
