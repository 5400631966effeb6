// SPDX-License-Identifier: MIT
// The viewer waits for a process that has just begun, and for no other.
#include "tui/app/startup.h"

#include "ipc/process.h"
#include "ipc/socket.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_S 60 // more than any machine needs

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

// A child that listens once it reads a byte from `go`, and ends at its end.
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

static void end(pid_t child, int go)
{
    close(go);
    waitpid(child, NULL, 0);
}

struct Wait {
    FILE *said; // what Startup_find says
    int go;
};

// Lets the child listen as soon as Startup_find says that it waits.
static void *let_it_serve(void *context)
{
    struct Wait *wait = context;
    char line[200] = "";

    if (fgets(line, sizeof line, wait->said) && strstr(line, "waiting"))
        (void)!write(wait->go, "x", 1);
    return NULL;
}

static void test_it_is_waited_for(void **state)
{
    int go[2], words[2];
    pid_t child = spawn(go);
    struct Wait wait = {.go = go[1]};
    struct Served found;
    char why[300], path[ADDRESS_MAX];
    pthread_t thread;
    FILE *say;

    (void)state;
    assert_int_equal(pipe(words), 0);
    wait.said = fdopen(words[0], "r");
    say = fdopen(words[1], "w");
    assert_int_equal(pthread_create(&thread, NULL, let_it_serve, &wait), 0);
    assert_int_equal(Startup_find(&found, child, LONG_S, say, why, sizeof why),
                     0);
    snprintf(path, sizeof path, "%s/%d.sock", folder, (int)child);
    assert_string_equal(found.path, path);
    fclose(say);
    pthread_join(thread, NULL);
    fclose(wait.said);
    end(child, go[1]);
    unlink(path);
}

static void test_patience_ends(void **state)
{
    int go[2];
    pid_t child = spawn(go);
    struct Served found;
    char why[300], said[200] = "";
    FILE *say = fmemopen(said, sizeof said, "w");

    (void)state;
    assert_int_equal(Startup_find(&found, child, 0.2, say, why, sizeof why),
                     -ENOENT);
    assert_non_null(strstr(why, "does not serve"));
    assert_non_null(strstr(said, "Ctrl-C ends"));
    end(child, go[1]);
    fclose(say);
}

// A process that ends meanwhile ends the waiting.
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
        cmocka_unit_test(test_it_is_waited_for),
        cmocka_unit_test(test_patience_ends),
        cmocka_unit_test(test_it_ends_meanwhile),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
