// SPDX-License-Identifier: MIT
// Tests Ocular's descriptors in a program that closes and opens descriptors
// with any numbers.
#define _GNU_SOURCE 1 // for O_TMPFILE and close_range()
#include "ipc/base/opened.h"
#include "ipc/socket.h"
#include "ipc/wake_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit.h"

static int some_file(void)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    assert_true(fd > 2);
    return fd;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

TEST(a_number_that_changed_hands_is_left_alone)
{
    struct Opened opened;
    int fd = some_file(), other = some_file();

    Opened_note(&opened, fd);
    assert_true(Opened_holds(&opened, fd));
    assert_int_equal(dup2(other, fd), fd);
    assert_false(Opened_holds(&opened, fd));
    Opened_close(&opened, fd);
    assert_true(is_open(fd));
    close(fd);
    assert_false(Opened_holds(&opened, fd));
    close(other);
}

TEST(another_file_gets_no_wake_up)
{
    struct WakeSocket socket;
    int others[2];

    WakeSocket_init(&socket);
    assert_int_equal(WakeSocket_open(&socket), 0);
    assert_true(WakeSocket_wake(&socket));
    assert_int_equal(Socket_pair(others), 0);
    assert_true(dup2(others[0], atomic_load(&socket.write_end)) >= 0);
    assert_false(WakeSocket_wake(&socket));
    close(atomic_load(&socket.write_end));
    WakeSocket_close(&socket);
    close(others[0]);
    close(others[1]);
}

// The kernel gives the program the lowest free number for a descriptor.
// Ocular's descriptors have higher numbers.
TEST(a_program_does_not_get_ours_next)
{
    int before = some_file(), ours = Opened_above(before), next;

    assert_true(ours >= OPENED_ABOVE);
    assert_false(is_open(before));
    close(ours); // a daemon does the same
    next = some_file();
    assert_int_equal(next, before);
    close(next);
}

// The descriptor was closed before it was moved to a higher number. As soon as
// its number is free, another file can get this number.
TEST(a_descriptor_that_is_gone_by_now)
{
    int gone = some_file();

    close(gone);
    assert_int_equal(Opened_above(gone), -EBADF);
}

TEST(where_the_limit_is_low)
{
    struct rlimit before, low;
    int fd, copy;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = OPENED_ABOVE / 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    fd = some_file();
    copy = Opened_above(fd);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(copy, fd);
    assert_true(is_open(fd));
    close(fd);
}
