// SPDX-License-Identifier: MIT
// Tests the pages of a recording that are in memory.
#include "tracer/timeline/memory_pages.h"

#include "tests/random.h"

#include "tests/unit.h"

#define PLACES 500u

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
