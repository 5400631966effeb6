// SPDX-License-Identifier: MIT
// Tests tracer/code/registry. The tests check finding, order, retiring and
// forks. test_collector.c has readers that run while code comes and goes.
#include "ipc/base/heap.h"
#include "tracer/code/registry.h"

#include "tests/sanitizers.h"
#include "tests/tracer/make_code.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

static struct Code *add(struct Registry *registry, uintptr_t address)
{
    struct Code *code = make_code(Registry_next_id(registry), address);

    Registry_add(registry, code);
    return code;
}

// There are three times as many code objects as hash buckets, so every chain
// has more than one. Afterwards every third code object is retired.
TEST(test_many)
{
    enum { COUNT = 3 * REGISTRY_BUCKETS };
    struct Registry *registry = Registry_new();
    struct Code *code, *next;
    uint32_t id = 0;
    size_t retired = 0;

    for (uintptr_t i = 1; i <= COUNT; i++)
        add(registry, 0x7f0000000000 + i * 208);
    assert_int_equal(registry->count, COUNT);
    for (uintptr_t i = 3; i <= COUNT; i += 3)
        Registry_retire(registry,
                        Registry_find(registry, 0x7f0000000000 + i * 208), 1);
    assert_int_equal(registry->count, COUNT - COUNT / 3);
    for (uintptr_t i = 1; i <= COUNT; i++) {
        code = Registry_find(registry, 0x7f0000000000 + i * 208);
        assert_true((code != NULL) == (i % 3 != 0));
        assert_ptr_equal(Registry_by_id(registry, (uint32_t)i), code);
    }
    for (code = Registry_first(registry); code; code = Registry_next(code)) {
        id += 1 + (id % 3 == 2);
        assert_int_equal(code->hot.id, id);
    }
    assert_int_equal(id, COUNT - 1);
    for (code = Registry_take_retired(registry, UINT64_MAX); code;
         code = next) {
        next = code->node.next_retired;
        retired++;
        // The oldest code comes first.
        assert_int_equal(code->hot.id, 3 * retired);
        Code_free(code);
    }
    assert_int_equal(retired, COUNT / 3);
    assert_null(Registry_take_retired(registry, UINT64_MAX));
    Registry_free(registry);
}

TEST(test_bytes_return_to_zero)
{
    struct Registry *registry = Registry_new();
    struct Code *code = add(registry, 0x1000);

    assert_true(registry->bytes >= sizeof(*code));
    code->hot.histogram =
        // The code has grown since it was added.
        Heap_zeroed(1, sizeof(struct Histogram));
    Registry_retire(registry, code, 1);
    assert_int_equal(registry->bytes, 0);
    assert_int_equal(registry->count, 0);
    Registry_free(registry);
}

struct Race {
    struct Registry *registry;
    _Atomic bool stop;
};

static void *hold_chains(void *argument)
{
    struct Race *race = argument;
    struct timespec time = {0, 200000};

    while (!race->stop) {
        pthread_mutex_lock(&race->registry->chains);
        nanosleep(&time, NULL);
        pthread_mutex_unlock(&race->registry->chains);
    }
    return NULL;
}

// The child can change the chains, even if another thread of the parent was
// changing them at the fork.
TEST(test_forks)
{
    struct Race race = {0};
    pthread_t thread;

    if (FORKS_ALONE)
        skip();
    race.registry = Registry_new();
    pthread_create(&thread, NULL, hold_chains, &race);
    for (int i = 0; i < 50; i++) {
        pid_t child;
        int status;

        Registry_before_fork(race.registry);
        child = fork();
        Registry_after_fork(race.registry);
        if (child == 0) {
            alarm(20);
            Registry_retire(race.registry, add(race.registry, 0x1000), 1);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    race.stop = true;
    pthread_join(thread, NULL);
    Registry_free(race.registry);
}
