// SPDX-License-Identifier: MIT
// Tests tracer/session/publish. A thread replaces the newest snapshot while
// other threads read it. Sanitizers find errors in this.
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
            sched_yield(); // Lengthens the section.
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
    // Takes the snapshot. No other reader uses it any more.
    last = Publish_take(&race.publish);
    last->pid = 0;
    race.stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.wrong, 0);
    Snapshot_free(last);
}
