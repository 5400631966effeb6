// SPDX-License-Identifier: MIT
// ipc/bell: heard once for many rings, and never in what the program has opened
// under its numbers.
#include "ipc/bell.h"
#include "ipc/socket.h"

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

static bool is_heard(const struct Bell *bell)
{
    struct pollfd polled = {.fd = bell->heard, .events = POLLIN};

    return poll(&polled, 1, 0) > 0;
}

static void test_rings(void **state)
{
    struct Bell bell;

    (void)state;
    Bell_init(&bell);
    assert_false(Bell_ring(&bell));
    assert_false(Bell_forget_lost(&bell));
    assert_int_equal(Bell_open(&bell), 0);
    assert_false(is_heard(&bell));
    assert_true(Bell_ring(&bell));
    assert_true(is_heard(&bell));
    Bell_silence(&bell);
    assert_false(is_heard(&bell));
    Bell_silence(&bell);             // does not wait
    for (int i = 0; i < 100000; i++) // nor does who rings often
        assert_true(Bell_ring(&bell));
    for (int i = 0; is_heard(&bell); i++) {
        assert_between(i, 0, 10000);
        Bell_silence(&bell);
    }
    assert_false(Bell_forget_lost(&bell));
    Bell_close(&bell);
    assert_false(Bell_ring(&bell));
}

// One of its numbers is the program's now, which has an eventfd there.
static void lose(int pulled)
{
    struct Bell bell;
    uint64_t count = 0;
    int number, others;

    Bell_init(&bell);
    assert_int_equal(Bell_open(&bell), 0);
    number = pulled ? bell.pulled : bell.heard;
    others = eventfd(5, EFD_NONBLOCK);
    assert_int_equal(dup2(others, number), number);
    if (pulled) {
        assert_false(Bell_ring(&bell));
        assert_true(is_heard(&bell)); // that the other end has gone
    } else {
        assert_false(Bell_ring(&bell));
    }
    Bell_silence(&bell);
    assert_true(Bell_forget_lost(&bell));
    assert_false(Bell_forget_lost(&bell));
    assert_false(Bell_ring(&bell));
    assert_int_equal(Bell_open(&bell), 0);
    assert_int_not_equal(bell.pulled, number);
    assert_int_not_equal(bell.heard, number);
    assert_true(Bell_ring(&bell));
    assert_true(is_heard(&bell));
    Bell_close(&bell);
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
    struct Bell bell;
    int pair[2];
    char byte;

    (void)state;
    for (int pulled = 0; pulled < 2; pulled++) {
        Bell_init(&bell);
        assert_int_equal(Bell_open(&bell), 0);
        assert_int_equal(Socket_pair(pair), 0);
        assert_int_equal(Socket_send(pair[1], "x", 1), 1);
        dup2(pair[0], pulled ? bell.pulled : bell.heard);
        assert_false(Bell_ring(&bell));
        Bell_silence(&bell);
        assert_int_equal(Socket_receive(pair[0], &byte, 1), 1);
        assert_int_equal(Socket_receive(pair[1], &byte, 1), -EAGAIN);
        close(pulled ? bell.pulled : bell.heard);
        assert_true(Bell_forget_lost(&bell));
        Bell_close(&bell);
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
