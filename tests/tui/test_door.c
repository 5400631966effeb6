// SPDX-License-Identifier: MIT
// Tests requests to attach by PEP 768. This process sends the request to
// itself. The tests use the tables of offsets of both versions, threads, the
// request of another debugger, and random data.
#include "tui/attach/door.h"

#include "tests/random.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit.h"

#define SCRIPT "/tmp/ocular-attach-abcdef/attach.py"

// These structs have a made-up layout, and are shorter than CPython's.
struct Thread {
    struct Thread *prev, *next;
    void *interp;
    uint64_t breaker;
    int32_t flag;
    char path[512];
};

struct Main {
    struct Main *next;
    struct Thread *head, *main;
    int32_t enabled;
};

static struct {
    uint64_t table[111];
    struct Main *interpreters, *main;
} runtime;

static struct Main interpreter, other;
static struct Thread threads[3];

static struct Interpreter make(unsigned minor)
{
    size_t length = minor == 14 ? 95 : 111;
    uint64_t *table = runtime.table, *support = table + length - 6;
    memset(&runtime, 0, sizeof runtime);
    memset(threads, 0, sizeof threads);
    table[3] = sizeof runtime;
    table[5] = offsetof(__typeof__(runtime), interpreters);
    table[9] = offsetof(struct Main, head);
    table[10] = offsetof(struct Main, main);
    table[24] = offsetof(struct Thread, next);
    table[25] = offsetof(struct Thread, interp);
    support[0] = offsetof(struct Thread, breaker);
    support[1] = offsetof(struct Thread, flag);
    support[2] = offsetof(struct Main, enabled);
    support[3] = 0;
    support[4] = offsetof(struct Thread, path) - offsetof(struct Thread, flag);
    support[5] = sizeof threads[0].path;
    for (int i = 0; i < 3; i++) {
        threads[i].next = i < 2 ? &threads[i + 1] : NULL;
        threads[i].interp = &interpreter;
        threads[i].breaker = 0xabcdef00;
    }
    interpreter = (struct Main){NULL, threads, &threads[2], 1};
    other = (struct Main){&interpreter, NULL, NULL, 1};
    runtime.interpreters = &other;
    runtime.main = &interpreter;
    return (struct Interpreter){.pid = getpid(),
                                .runtime = (uintptr_t)&runtime,
                                .runtime_size = sizeof runtime,
                                .major = 3,
                                .minor = minor};
}

static int ask(unsigned minor, bool all)
{
    char why[512] = "";
    struct Interpreter found = make(minor);
    int error = Door_ask(&found, SCRIPT, all, why, sizeof why);
    assert_true(!error == !*why);
    return error;
}

TEST(test_the_main_thread_is_asked)
{
    for (unsigned minor = 14; minor < 16; minor++) {
        assert_int_equal(ask(minor, false), 0);
        assert_int_equal(threads[2].flag, 1);
        assert_string_equal(threads[2].path, SCRIPT);
        assert_true(threads[2].breaker == 0xabcdef20);
        assert_int_equal(threads[0].flag + threads[1].flag, 0);
        assert_true(threads[0].breaker == 0xabcdef00);
    }
}

TEST(test_all_are_asked_and_that_is_taken_back)
{
    struct Interpreter found = make(14);
    char why[512];
    assert_int_equal(Door_ask(&found, SCRIPT, false, why, sizeof why), 0);
    assert_int_equal(Door_ask(&found, SCRIPT, true, why, sizeof why), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(threads[i].flag, 1);
    strcpy(threads[1].path, "/another/debugger.py");
    Door_withdraw(&found);
    assert_int_equal(threads[0].flag + threads[2].flag, 0);
    assert_string_equal(threads[0].path, "");
    assert_int_equal(threads[1].flag, 1);
    assert_string_equal(threads[1].path, "/another/debugger.py");
}

TEST(test_another_debugger_was_first)
{
    struct Interpreter found = make(15);
    char why[512];
    threads[2].flag = 1;
    strcpy(threads[2].path, "/another/debugger.py");
    assert_int_equal(Door_ask(&found, SCRIPT, false, why, sizeof why), -EAGAIN);
    assert_non_null(strstr(why, "another debugger"));
    assert_string_equal(threads[2].path, "/another/debugger.py");
    // An attaching program that was killed does not count.
    strcpy(threads[2].path, "/tmp/ocular-attach-123456/attach.py");
    assert_int_equal(Door_ask(&found, SCRIPT, false, why, sizeof why), 0);
    assert_string_equal(threads[2].path, SCRIPT);
}

TEST(test_a_closed_door)
{
    struct Interpreter found = make(14);
    char why[512];
    interpreter.enabled = 0;
    assert_int_equal(Door_ask(&found, SCRIPT, false, why, sizeof why), -EACCES);
    assert_non_null(strstr(why, "PYTHON_DISABLE_REMOTE_DEBUG"));
    assert_int_equal(threads[2].flag, 0);
}

// A number in the table of offsets is random. Nothing is written, because
// `enabled` is 0.
TEST(test_garbage_is_refused)
{
    char why[512];
    for (int i = 0; i < 20000; i++) {
        struct Interpreter found = make(14 + i % 2);
        uint64_t value = random_u64();
        runtime.table[random_u64() % 111] = value << (value & 32);
        interpreter.enabled = 0;
        Door_ask(&found, SCRIPT, i & 2, why, sizeof why);
        Door_withdraw(&found);
    }
}
