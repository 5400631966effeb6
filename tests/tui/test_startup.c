// SPDX-License-Identifier: MIT
// Tests how the viewer waits for a process that has just begun, and only for
// such a process.
#include "tui/app/startup.h"

#include "ipc/process.h"
#include "ipc/socket.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_S 60 // seconds; no machine needs as long

static char folder[] = "/tmp/oc-startup-XXXXXX";

static void test_who_is_likely_to_serve_soon(void **state)
{
    const char *ours = "python3 -m ocular --serve app.py";

    (void)state;
    assert_true(Startup_is_likely(0, "[sh]"));
    assert_true(Startup_is_likely(2, "python3 app.py"));
    assert_false(Startup_is_likely(60, "python3 app.py"));
    assert_false(Startup_is_likely(NAN, "python3 app.py"));
    assert_true(Startup_is_likely(60, ours));
    assert_true(Startup_is_likely(NAN, ours));
    assert_true(
        Startup_is_likely(60, "python3 -X dev -m ocular --idle -m app"));
    assert_false(Startup_is_likely(60, "python3 -m ocular app.py"));
    assert_false(Startup_is_likely(60, "python3 -m ocularity --serve app.py"));
}

static void test_ages(void **state)
{
    (void)state;
    assert_true(Process_age_s(getpid()) >= 0);
    assert_true(Process_age_s(getpid()) < Process_age_s(getppid()) + 1);
    assert_true(isnan(Process_age_s(1 << 30)));
}

// Starts a child that listens after a byte in `go`, and ends when `go` is
// closed.
static pid_t spawn(int go[2])
{
    pid_t child;

    assert_int_equal(pipe(go), 0);
    child = fork();
    if (child == 0) {
        char path[ADDRESS_MAX], byte;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(go[1]);
        snprintf(path, sizeof path, "%s/%d.sock", folder, (int)getpid());
        while (read(go[0], &byte, 1) == 1)
            Socket_listen(path);
        _exit(0);
    }
    close(go[0]);
    return child;
}

// The viewer stops waiting if the process ends.
static void test_it_ends_meanwhile(void **state)
{
    int go[2];
    pid_t child = spawn(go);
    struct Served found;
    char why[300], said[200] = "";
    FILE *say = fmemopen(said, sizeof said, "w");

    (void)state;
    close(go[1]);
    assert_int_equal(Startup_find(&found, child, LONG_S, say, why, sizeof why),
                     -ESRCH);
    assert_non_null(strstr(why, "no process"));
    waitpid(child, NULL, 0);
    fclose(say);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) && setenv("OCULAR_DIR", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_likely_to_serve_soon),
        cmocka_unit_test(test_ages),
        cmocka_unit_test(test_it_ends_meanwhile),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
