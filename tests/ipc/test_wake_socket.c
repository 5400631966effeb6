// SPDX-License-Identifier: MIT
// ipc/wake_socket: readable once for many wake-ups, and never in what the
// program has opened under its numbers.
#include "ipc/socket.h"
#include "ipc/wake_socket.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/between.h"

static bool is_readable(const struct WakeSocket *socket)
{
    struct pollfd polled = {.fd = socket->read_end, .events = POLLIN};

    return poll(&polled, 1, 0) > 0;
}

static void test_rings(void **state)
{
    struct WakeSocket socket;

    (void)state;
    WakeSocket_init(&socket);
    assert_false(WakeSocket_wake(&socket));
    assert_false(WakeSocket_forget_lost(&socket));
    assert_int_equal(WakeSocket_open(&socket), 0);
    assert_false(is_readable(&socket));
    assert_true(WakeSocket_wake(&socket));
    assert_true(is_readable(&socket));
    WakeSocket_clear(&socket);
    assert_false(is_readable(&socket));
    WakeSocket_clear(&socket);       // does not wait
    for (int i = 0; i < 100000; i++) // nor do many wake-ups
        assert_true(WakeSocket_wake(&socket));
    for (int i = 0; is_readable(&socket); i++) {
        assert_between(i, 0, 10000);
        WakeSocket_clear(&socket);
    }
    assert_false(WakeSocket_forget_lost(&socket));
    WakeSocket_close(&socket);
    assert_false(WakeSocket_wake(&socket));
}

// One of its numbers is the program's now, which has an eventfd there.
static void lose(int write_end)
{
    struct WakeSocket socket;
    uint64_t count = 0;
    int number, others;

    WakeSocket_init(&socket);
    assert_int_equal(WakeSocket_open(&socket), 0);
    number = write_end ? socket.write_end : socket.read_end;
    others = eventfd(5, EFD_NONBLOCK);
    assert_int_equal(dup2(others, number), number);
    if (write_end) {
        assert_false(WakeSocket_wake(&socket));
        assert_true(is_readable(&socket)); // that the other end has gone
    } else {
        assert_false(WakeSocket_wake(&socket));
    }
    WakeSocket_clear(&socket);
    assert_true(WakeSocket_forget_lost(&socket));
    assert_false(WakeSocket_forget_lost(&socket));
    assert_false(WakeSocket_wake(&socket));
    assert_int_equal(WakeSocket_open(&socket), 0);
    assert_int_not_equal(socket.write_end, number);
    assert_int_not_equal(socket.read_end, number);
    assert_true(WakeSocket_wake(&socket));
    assert_true(is_readable(&socket));
    WakeSocket_close(&socket);
    assert_int_equal(read(others, &count, sizeof count), sizeof count);
    assert_int_equal(count, 5); // nobody has read it, nor written to it
    assert_int_equal(close(number), 0);
    close(others);
}

static void test_a_number_that_is_the_programs_now(void **state)
{
    (void)state;
    lose(0);
    lose(1);
}

// Bytes would go into a socket, and come out of one.
static void test_a_number_that_is_the_programs_socket_now(void **state)
{
    struct WakeSocket socket;
    int pair[2];
    char byte;

    (void)state;
    for (int write_end = 0; write_end < 2; write_end++) {
        WakeSocket_init(&socket);
        assert_int_equal(WakeSocket_open(&socket), 0);
        assert_int_equal(Socket_pair(pair), 0);
        assert_int_equal(Socket_send(pair[1], "x", 1), 1);
        dup2(pair[0], write_end ? socket.write_end : socket.read_end);
        assert_false(WakeSocket_wake(&socket));
        WakeSocket_clear(&socket);
        assert_int_equal(Socket_receive(pair[0], &byte, 1), 1);
        assert_int_equal(Socket_receive(pair[1], &byte, 1), -EAGAIN);
        close(write_end ? socket.write_end : socket.read_end);
        assert_true(WakeSocket_forget_lost(&socket));
        WakeSocket_close(&socket);
        close(pair[0]);
        close(pair[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_a_number_that_is_the_programs_now),
        cmocka_unit_test(test_a_number_that_is_the_programs_socket_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
