// SPDX-License-Identifier: MIT
// Tests the ring of hits. The counting thread sleeps until the next hit.
#include "tracer/hook/hit_ring.h"

#include "tests/unit.h"

static int posts(sem_t *due)
{
    int count = 0;

    while (sem_trywait(due) == 0)
        count++;
    return count;
}

TEST(the_next_hit_wakes_it)
{
    struct HitRing *ring = aligned_alloc(64, sizeof *ring);
    const struct ThreadTrace *thread = (const struct ThreadTrace *)64;
    sem_t due;

    assert_non_null(ring);
    sem_init(&due, 0, 0);
    HitRing_init(ring, &due);
    ring->trace = thread;
    HitRing_push(ring, 1, 2, 3);
    assert_false(HitRing_sleep(ring, 0)); // Another hit has come meanwhile.
    HitRing_wake(ring);
    assert_int_equal(posts(&due), 0);
    ring->trace = thread;
    assert_true(HitRing_sleep(ring, 1));
    // With HIT_RING_NOBODY the next hook takes the slow path.
    assert_ptr_equal(ring->trace, HIT_RING_NOBODY);
    HitRing_wake(ring);
    HitRing_wake(ring);
    assert_int_equal(posts(&due), 1);
    sem_destroy(&due);
    free(ring);
}
