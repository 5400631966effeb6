// SPDX-License-Identifier: MIT
// Tests the pages of a recording that are in memory.
#include "tracer/timeline/memory_pages.h"

#include "tests/random.h"

#include "tests/unit.h"

#define PLACES 500u

static uint64_t pages_of(size_t count)
{
    return count * RECORDING_PAGE;
}

// If a disk becomes full, the first page in memory is far from the beginning of
// the file. The size of the table must not depend on this distance.
TEST(pages_of_a_large_file_take_no_large_table)
{
    const uint64_t far = UINT64_C(10) << 30;
    struct MemoryPages pages = {0};

    assert_int_equal(MemoryPages_add(&pages, far, pages_of(16)), 0);
    assert_int_equal(MemoryPages_add(&pages, 0, pages_of(1)), 0);
    assert_int_equal(pages.count, 17);
    assert_true(MemoryPages_bytes(&pages) < pages_of(17) + 4096);
    assert_int_equal(MemoryPages_next(&pages, 1), 1);
    assert_int_equal(MemoryPages_next(&pages, RECORDING_PAGE), far);
    assert_null(MemoryPages_find(&pages, RECORDING_PAGE));
    assert_null(MemoryPages_find(&pages, far + pages_of(16)));
    assert_int_equal(MemoryPages_next(&pages, far + pages_of(16)), UINT64_MAX);
    MemoryPages_release(&pages);
}

// A disk can become free page by page while the file grows, so pages come and
// go for a long time.
TEST(pages_that_were_written_leave_the_table)
{
    struct MemoryPages pages = {0};
    uint64_t i;

    for (i = 0; i < 100000; i++) {
        assert_int_equal(MemoryPages_add(&pages, pages_of(i), pages_of(1)), 0);
        if (i >= 100)
            MemoryPages_remove(&pages, pages_of(i - 100));
    }
    assert_int_equal(pages.count, 100);
    assert_true(MemoryPages_bytes(&pages) < pages_of(100) + 16384);
    MemoryPages_release(&pages);
}

// The written ranges have random lengths, can share pages, and come and go at
// random.
TEST(each_place_has_its_bytes)
{
    static struct {
        uint64_t at, size;
        bool used;
    } places[PLACES];
    struct MemoryPages pages = {0};
    uint64_t end = 0;
    size_t i, round;

    for (i = 0; i < PLACES; i++) {
        places[i].at = end;
        places[i].size = (1 + random_u64() % 60) * RECORDING_UNIT;
        end += places[i].size;
    }
    for (round = 0; round < 20 * PLACES; round++) {
        uint8_t *first, *last;

        i = random_u64() % PLACES;
        if (places[i].used) {
            first = MemoryPages_find(&pages, places[i].at);
            last = MemoryPages_find(&pages, places[i].at + places[i].size - 1);
            assert_int_equal(*first, i % 251);
            assert_int_equal(*last, i % 251);
            MemoryPages_drop(&pages, places[i].at, places[i].size);
        } else {
            assert_int_equal(
                MemoryPages_add(&pages, places[i].at, places[i].size), 0);
            assert_int_equal(MemoryPages_next(&pages, places[i].at),
                             places[i].at);
            first = MemoryPages_find(&pages, places[i].at);
            last = MemoryPages_find(&pages, places[i].at + places[i].size - 1);
            *first = *last = (uint8_t)(i % 251);
        }
        places[i].used = !places[i].used;
    }
    for (i = 0; i < PLACES; i++)
        if (places[i].used)
            MemoryPages_drop(&pages, places[i].at, places[i].size);
    assert_int_equal(pages.count, 0);
    assert_int_equal(MemoryPages_next(&pages, 0), UINT64_MAX);
    MemoryPages_release(&pages);
}
