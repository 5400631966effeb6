// SPDX-License-Identifier: MIT
// Tests tracer/session/publish. The newest snapshot is replaced while other
// threads read it (for AddressSanitizer and ThreadSanitizer).
#include "tracer/session/publish.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

static struct Snapshot *number(struct Snapshot *snapshot, uint64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%ju", (uintmax_t)n);
    snapshot->pid = n;
    snapshot->command = Snapshot_text(snapshot, text);
    return snapshot;
}

static struct Snapshot *numbered(uint64_t n)
{
    return number(Snapshot_new(), n);
}

// When nobody reads the snapshot before the newest any more, this snapshot is
// returned as a blank snapshot.
TEST(test_a_blank_one_is_the_one_before)
{
    struct Publish publish = {0};
    struct Snapshot *first = numbered(1), *second = numbered(2), *blank;

    Publish_set(&publish, first);
    blank = Publish_blank(&publish);
    // The first snapshot is still being read.
    assert_ptr_not_equal(blank, first);
    Snapshot_free(blank);
    Publish_set(&publish, second);
    assert_true(Publish_bytes(&publish) >=
                Snapshot_bytes(first) + Snapshot_bytes(second));
    blank = Publish_blank(&publish);
    assert_ptr_equal(blank, first);
    assert_int_equal(blank->pid, NULL_U64);
    assert_null(blank->command);
    assert_int_equal(Publish_bytes(&publish), Snapshot_bytes(second));
    Publish_set(&publish, blank);
    Publish_trim(&publish);
    assert_int_equal(Publish_bytes(&publish), Snapshot_bytes(blank));
    Publish_set(&publish, numbered(3));
    Publish_set(&publish, NULL);
    assert_int_equal(Publish_bytes(&publish), 0);
    Publish_set(&publish, numbered(4));
    Publish_set(&publish, numbered(5));
    Snapshot_free(Publish_take(&publish));
    assert_int_equal(Publish_bytes(&publish), 0);
}

struct Race {
    struct Publish publish;
    _Atomic bool stop;
    _Atomic unsigned long reads;
    _Atomic unsigned wrong;
};

static void *read_all(void *context)
{
    struct Race *race = context;
    uint64_t newest = 0;
    char text[32];

    while (!race->stop) {
        const struct Snapshot *snapshot = Publish_get(&race->publish);

        if (snapshot) {
            snprintf(text, sizeof text, "%ju", (uintmax_t)snapshot->pid);
            sched_yield(); // Makes the read section longer.
            race->wrong += strcmp(text, snapshot->command) != 0;
            race->wrong += snapshot->pid < newest;
            newest = snapshot->pid;
            race->reads++;
        }
        Publish_put(&race->publish);
        // Without sched_yield, one of the two readers would always be in a
        // section under valgrind.
        sched_yield();
    }
    return NULL;
}

TEST(test_readers_while_it_changes)
{
    struct Race race = {.stop = false};
    struct Snapshot *last;
    pthread_t threads[2];
    uint64_t n = 0;

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_all, &race);
    while (n < 200 || race.reads < 200)
        Publish_set(&race.publish, number(Publish_blank(&race.publish), ++n));
    // A reader takes the snapshot. The other readers do not use this snapshot
    // any more.
    last = Publish_take(&race.publish);
    last->pid = 0;
    race.stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.wrong, 0);
    Snapshot_free(last);
}
