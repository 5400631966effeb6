// SPDX-License-Identifier: MIT
// Tests tracer/base/rcu. An object is not freed while a reader uses it, also
// after a fork.
#include "tracer/base/rcu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/rest.h"
#include "tests/unit.h"

// A thread-local variable of liburcu, which is NULL in threads that have not
// registered.
extern _Thread_local void *urcu_bp_reader;

struct Shared {
    bool registers; // True if the reader registers.
    atomic_bool stop;
    atomic_bool inside;
    atomic_bool leave;
};

static void *stay_inside(void *argument)
{
    struct Shared *shared = argument;

    if (shared->registers)
        Rcu_register();
    Rcu_read_lock();
    Rcu_read_lock(); // Read sections may be nested.
    Rcu_read_unlock();
    atomic_store(&shared->inside, true);
    while (!atomic_load(&shared->leave))
        rest_ms(1);
    Rcu_read_unlock();
    return NULL;
}

static void *synchronize(void *argument)
{
    struct Shared *shared = argument;

    Rcu_synchronize();
    atomic_store(&shared->stop, true);
    return NULL;
}

static void check_that_synchronize_waits(bool registers)
{
    struct Shared shared = {.registers = registers};
    pthread_t reader, writer;

    pthread_create(&reader, NULL, stay_inside, &shared);
    while (!shared.inside)
        rest_ms(1);
    pthread_create(&writer, NULL, synchronize, &shared);
    rest_ms(30);
    assert_false(shared.stop);
    shared.leave = true;
    pthread_join(writer, NULL);
    assert_true(shared.stop);
    pthread_join(reader, NULL);
}

TEST(test_synchronize_waits_for_a_reader)
{
    check_that_synchronize_waits(false);
    check_that_synchronize_waits(true);
}

static void *read_and_look(void *argument)
{
    struct Shared *shared = argument;

    if (shared->registers)
        Rcu_register();
    Rcu_read_lock();
    Rcu_read_unlock();
    return urcu_bp_reader;
}

// If memory is out, liburcu ends the process when it allocates memory for a
// thread.
TEST(test_only_registered_threads_use_liburcu)
{
    for (int registers = 0; registers < 2; registers++) {
        struct Shared shared = {.registers = registers};
        pthread_t reader;
        void *known;

        pthread_create(&reader, NULL, read_and_look, &shared);
        pthread_join(reader, &known);
        assert_int_equal(known != NULL, registers);
    }
}

// A reader of the parent that is in a section at the fork must not block the
// child forever.
static void check_the_child(bool registers)
{
    struct Shared shared = {.registers = registers};
    pthread_t reader;
    int status = -1;
    pid_t pid;

    pthread_create(&reader, NULL, stay_inside, &shared);
    while (!shared.inside)
        rest_ms(1);
    Rcu_before_fork();
    pid = fork();
    if (pid == 0) {
        Rcu_after_fork_child();
        alarm(10);
        Rcu_synchronize();
        _exit(0);
    }
    Rcu_after_fork_parent();
    waitpid(pid, &status, 0);
    shared.leave = true;
    pthread_join(reader, NULL);
    Rcu_synchronize();
    assert_int_equal(status, 0);
}

TEST(test_the_child_of_a_fork_forgets_other_readers)
{
    check_the_child(false);
    check_the_child(true);
}
