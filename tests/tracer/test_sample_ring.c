// SPDX-License-Identifier: MIT
// Tests tracer/sample/sample_ring. The ring returns samples complete and in
// order, from any place in it, and counts the samples for which it has no room.
#include "tracer/sample/sample_ring.h"

#include "tests/sanitizers.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit.h"

static struct SampleRing *ring;

static void set_up(void)
{
    ring = calloc(1, sizeof *ring);
}

static void tear_down(void)
{
    free(ring);
}

static unsigned natives_of(uint64_t i)
{
    return (unsigned)(i * 5 % (NATIVE_DEPTH + 1));
}

static size_t words_of(uint64_t i)
{
    return sizeof(struct SampleHead) / sizeof(uint64_t) +
           2 * (i * 7 % (WALK_DEPTH + 1)) + natives_of(i);
}

// Pushes the sample number `i`. The number determines the sample's depth and
// words.
static bool push(uint64_t i)
{
    struct WalkFrame frames[WALK_DEPTH];
    struct SampleHead head = {.cpu_ns = i,
                              .ticks = 3 * i,
                              .newest_id = (uint32_t)(5 * i),
                              .depth = (uint16_t)(i * 7 % (WALK_DEPTH + 1)),
                              .flags = (uint8_t)i,
                              .native_depth = (uint8_t)natives_of(i)};
    uintptr_t natives[NATIVE_DEPTH];

    for (unsigned at = 0; at < head.depth; at++)
        frames[at] = (struct WalkFrame){i << 8 | at, ~i};
    for (unsigned at = 0; at < head.native_depth; at++)
        natives[at] = i + at;
    return SampleRing_push(ring, &head, frames, natives);
}

// Expects that the next sample has the number `i`.
static void expect(uint64_t i)
{
    struct WalkFrame frames[WALK_DEPTH];
    struct SampleHead head;
    uintptr_t natives[NATIVE_DEPTH];

    assert_true(SampleRing_pop(ring, &head, frames, natives));
    assert_int_equal(head.cpu_ns, i);
    assert_int_equal(head.native_depth, natives_of(i));
    for (unsigned at = 0; at < head.native_depth; at++)
        assert_int_equal(natives[at], i + at);
    assert_int_equal(head.ticks, 3 * i);
    assert_int_equal(head.newest_id, (uint32_t)(5 * i));
    assert_int_equal(head.depth, i * 7 % (WALK_DEPTH + 1));
    assert_int_equal(head.flags, (uint8_t)i);
    for (unsigned at = 0; at < head.depth; at++) {
        assert_int_equal(frames[at].code, i << 8 | at);
        assert_int_equal(frames[at].instruction, ~i);
    }
}

static void expect_none(void)
{
    struct WalkFrame frames[WALK_DEPTH];
    struct SampleHead head;
    uintptr_t natives[NATIVE_DEPTH];

    assert_false(SampleRing_pop(ring, &head, frames, natives));
}

TEST_WITH(test_a_full_one_keeps_what_it_has, set_up, tear_down)
{
    uint64_t count = 0, words = 0;

    while (push(count))
        words += words_of(count++);
    // The free room is too small for the next sample.
    assert_true(words <= SAMPLE_RING_WORDS);
    assert_true(words + words_of(count) > SAMPLE_RING_WORDS);
    assert_false(push(count));
    assert_int_equal(Counter_get(&ring->lost), 2);
    expect(0);
    for (uint64_t i = 1; i < count; i++)
        expect(i);
    expect_none();
    assert_true(push(count)); // There is room for the sample again.
    expect(count);
    assert_int_equal(Counter_get(&ring->lost), 2);
}

TEST_WITH(test_to_the_last_word, set_up, tear_down)
{
    const size_t words = sizeof(struct SampleHead) / sizeof(uint64_t);
    struct WalkFrame frames[WALK_DEPTH] = {{0, 0}};
    uintptr_t natives[NATIVE_DEPTH];
    struct SampleHead head = {.depth = 0};
    size_t left = SAMPLE_RING_WORDS;

    // Pushes samples until a sample of some depth fits exactly into the free
    // room.
    while (left > words + 2 * WALK_DEPTH || (left - words) % 2) {
        assert_true(SampleRing_push(ring, &head, frames, natives));
        left -= words;
    }
    head.depth = (uint16_t)((left - words) / 2 + 1);
    assert_false(SampleRing_push(ring, &head, frames, natives));
    head.depth--;
    assert_true(SampleRing_push(ring, &head, frames, natives));
    assert_int_equal(Counter_get(&ring->pushed), SAMPLE_RING_WORDS);
}

enum { SAMPLES = FEWER(200000) };

static void *push_all(void *unused)
{
    for (uint64_t i = 0; i < SAMPLES; i++)
        while (!push(i))
            sched_yield();
    return unused;
}

TEST_WITH(test_two_threads, set_up, tear_down)
{
    struct WalkFrame frames[WALK_DEPTH];
    uintptr_t natives[NATIVE_DEPTH];
    struct SampleHead head;
    pthread_t writer;
    uint64_t next = 0;

    assert_int_equal(pthread_create(&writer, NULL, push_all, NULL), 0);
    while (next < SAMPLES) {
        if (!SampleRing_pop(ring, &head, frames, natives)) {
            sched_yield();
            continue;
        }
        assert_int_equal(head.cpu_ns, next);
        assert_int_equal(head.depth, next * 7 % (WALK_DEPTH + 1));
        for (unsigned at = 0; at < head.depth; at++)
            assert_true(frames[at].code == (next << 8 | at) &&
                        frames[at].instruction == ~next);
        next++;
    }
    pthread_join(writer, NULL);
    expect_none();
}
