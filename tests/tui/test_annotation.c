// SPDX-License-Identifier: MIT
// Tests how the viewer puts instructions between source lines. In any listing,
// each instruction appears once, below its line. Each line appears once, in
// order.
#include "tests/random.h"
#include "tui/model/annotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

#define ROWS 12

static struct ListingRow rows[ROWS];
static const char *lines[200];

static struct Listing made(const uint64_t *numbers, size_t count)
{
    struct Listing listing = {
        .id = 1, .line = 10, .rows = rows, .row_count = count};
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < count; i++) {
        rows[i].offset = 2 * i;
        rows[i].line = numbers[i];
        rows[i].target = NULL_U64;
        rows[i].samples = 1;
        rows[i].c_samples = i % 2;
        rows[i].cycles = (double)i;
    }
    return listing;
}

static struct Source fine(void)
{
    for (size_t i = 0; i < 200; i++)
        lines[i] = "pass";
    return (struct Source){
        .state = SOURCE_FINE, .lines = lines, .line_count = 200};
}

// Compares the entries with a text such as "S10 0 1 S11 2". S10 stands for
// source line 10, and 0 for the instruction in row 0.
static void expect(const struct Annotation *annotation, const char *expected)
{
    char text[1000] = "";
    for (size_t i = 0; i < annotation->count; i++) {
        const struct Entry *entry = &annotation->entries[i];
        size_t used = strlen(text);
        if (i)
            used += (size_t)snprintf(text + used, sizeof text - used, " ");
        if (entry->kind == ENTRY_SOURCE)
            snprintf(text + used, sizeof text - used, "S%d", (int)entry->line);
        else if (entry->kind == ENTRY_GAP)
            snprintf(text + used, sizeof text - used, "G%d+%d",
                     (int)entry->line, (int)entry->count);
        else if (entry->kind == ENTRY_NOTE)
            snprintf(text + used, sizeof text - used, "N");
        else
            snprintf(text + used, sizeof text - used, "%d%s", (int)entry->row,
                     entry->first ? "!" : "");
    }
    assert_string_equal(text, expected);
}

static void check(const uint64_t *numbers, size_t count, const char *expected)
{
    struct Listing listing = made(numbers, count);
    struct Source source = fine();
    struct Annotation annotation;
    assert_int_equal(Annotation_make(&annotation, &listing, &source), 0);
    expect(&annotation, expected);
    Annotation_release(&annotation);
}

TEST(test_interleaved)
{
    check((uint64_t[]){10, 11, 11, 12}, 4, "S10 0! S11 1! 2 S12 3!");
    // The first line of a loop also has code at the end of the loop.
    check((uint64_t[]){10, 11, 12, 11, 13}, 5, "S10 0! S11 1! 3 S12 2! S13 4!");
    // Up to seven lines without code in a row are shown.
    check((uint64_t[]){10, 13}, 2, "S10 0! S11 S12 S13 1!");
    check((uint64_t[]){10, 40}, 2, "S10 0! S11 S12 G13+25 S38 S39 S40 1!");
    // The function has decorators above its code, code without a line, or no
    // code.
    check((uint64_t[]){12, NULL_U64, 13}, 3, "S10 S11 S12 0! 1 S13 2!");
    check((uint64_t[]){NULL_U64, 10}, 2, "S10 0! 1");
    check(NULL, 0, "");
}

TEST(test_sums)
{
    struct Listing listing = made((uint64_t[]){10, 11, 11, 10}, 4);
    struct Source source = fine();
    struct Annotation annotation;
    assert_int_equal(Annotation_make(&annotation, &listing, &source), 0);
    assert_true(annotation.samples == 4);
    assert_true(annotation.most_cycles == 3);
    assert_true(annotation.entries[0].samples == 2); // line 10 has two samples
    assert_true(annotation.entries[0].c_samples == 1);
    Annotation_release(&annotation);
    for (size_t i = 0; i < 4; i++) {
        rows[i].samples = rows[i].c_samples = NULL_U64;
        rows[i].cycles = NAN;
    }
    assert_int_equal(Annotation_make(&annotation, &listing, &source), 0);
    // NaN means that the number is not known, which is not the same as zero
    assert_true(isnan(annotation.samples));
    assert_true(isnan(annotation.most_cycles));
    assert_true(isnan(annotation.entries[0].samples));
    Annotation_release(&annotation);
}

TEST(test_labels)
{
    struct Listing listing = made((uint64_t[]){10, 10, 10, 10, 10}, 5);
    struct Source source = fine();
    struct Annotation annotation;
    rows[0].target = 8;
    rows[1].target = 4;
    rows[2].target = 4;
    rows[3].target = 3;    // In the middle of an instruction.
    rows[4].target = 1000; // Outside of the code.
    assert_int_equal(Annotation_make(&annotation, &listing, &source), 0);
    assert_int_equal(annotation.labels[0], 0);
    assert_int_equal(annotation.labels[2], 1);
    assert_int_equal(annotation.labels[3], 0);
    assert_int_equal(annotation.labels[4], 2);
    assert_int_equal(Annotation_row(&listing, 8), 4);
    assert_int_equal(Annotation_row(&listing, 3), LISTING_ROWS);
    assert_int_equal(Annotation_entry(&annotation, 4), 5);
    Annotation_release(&annotation);
}

// For random listings, each instruction appears exactly once, and nothing
// overflows.
TEST(test_a_strangers_numbers)
{
    static const uint64_t odd[] = {0, 1, NULL_U64, NULL_U64 - 1, 1u << 31, 12};
    for (int round = 0; round < 2000; round++) {
        uint64_t numbers[ROWS];
        size_t count = random_u64() % (ROWS + 1), seen = 0;
        for (size_t i = 0; i < count; i++)
            numbers[i] =
                random_u64() % 3 ? random_u64() % 60 : odd[random_u64() % 6];
        struct Listing listing = made(numbers, count);
        listing.line = random_u64() % 2 ? odd[random_u64() % 6] : 10;
        for (size_t i = 0; i < count; i++) {
            rows[i].target =
                random_u64() % 2 ? random_u64() : random_u64() % 30;
            if (random_u64() % 4 == 0)
                rows[i].offset = random_u64();
        }
        struct Source source = fine();
        if (random_u64() % 2)
            source.state = SOURCE_NONE;
        struct Annotation annotation;
        assert_int_equal(Annotation_make(&annotation, &listing, &source), 0);
        for (size_t i = 0; i < annotation.count; i++)
            if (annotation.entries[i].kind == ENTRY_CODE)
                seen |= (size_t)1 << annotation.entries[i].row;
        assert_int_equal(seen, ((size_t)1 << count) - 1);
        Annotation_release(&annotation);
    }
}
