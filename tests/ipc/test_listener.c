// SPDX-License-Identifier: MIT
// Tests ipc/listener on a thread of Ocular. Ocular's thread has fewer rights
// than the program's thread that has bound the socket.
#include "ipc/base/worker.h"
#include "ipc/listener.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

#define STACK (256u << 10)
#define OTHER 12345 // user id of another user

static void check(void *context)
{
    Listener_check(context);
}

// Root's socket is in the folder of another user, which only that user may
// enter. The thread that checks the socket has no capabilities, so it cannot
// see the socket.
TEST(test_a_place_that_our_threads_cannot_see)
{
    char theirs[] = "/tmp/ocular-test-XXXXXX", directory[64], why[256];
    char path[ADDRESS_MAX];
    struct Listener listener;
    struct Worker worker = {0};

    if (geteuid() || prctl(PR_GET_SECCOMP))
        skip();
    assert_non_null(mkdtemp(theirs));
    snprintf(directory, sizeof directory, "%s/ocular", theirs);
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(chown(theirs, OTHER, OTHER), 0);
    setenv("OCULAR_DIR", directory, 1);
    assert_int_equal(Listener_open(&listener, why, sizeof why), 0);
    snprintf(path, sizeof path, "%s", Listener_path(&listener));

    assert_int_equal(
        Worker_start(&worker, "ocular-test", check, &listener, STACK), 0);
    Worker_join(&worker);
    assert_string_equal(Listener_path(&listener), path);
    assert_int_equal(access(path, F_OK), 0);

    Listener_leave(&listener);
    assert_int_equal(access(path, F_OK), -1);
    Listener_release(&listener);
    rmdir(directory);
    rmdir(theirs);
}

// The program has closed the descriptor of the inotify watch, and has opened a
// file that has got the same number.
TEST(test_a_watch_that_is_the_programs_file)
{
    char directory[] = "/tmp/ocular-test-XXXXXX", file[64], why[256];
    struct Listener listener;
    int watch, theirs;

    assert_non_null(mkdtemp(directory));
    setenv("OCULAR_DIR", directory, 1);
    assert_int_equal(Listener_open(&listener, why, sizeof why), 0);
    watch = atomic_load(&listener.watch);
    if (watch < 0)
        skip(); // this user has reached the limit of inotify instances
    snprintf(file, sizeof file, "%s/theirs", directory);
    theirs = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(theirs, "hello", 5), 5);
    assert_int_equal(lseek(theirs, 0, SEEK_SET), 0);
    assert_int_equal(dup2(theirs, watch), watch);

    assert_true(Listener_check(&listener));
    // The listener has read nothing from the program's file.
    assert_int_equal(lseek(theirs, 0, SEEK_CUR), 0);
    assert_int_not_equal(atomic_load(&listener.watch), watch);

    Listener_leave(&listener);
    Listener_release(&listener);
    assert_int_equal(close(watch), 0); // the program's file is still open
    close(theirs);
    unlink(file);
    rmdir(directory);
}
