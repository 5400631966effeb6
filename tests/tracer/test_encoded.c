// SPDX-License-Identifier: MIT
// The table of bytes that are made once.
#include "tracer/timeline/encoded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct EncodedPiece piece(const char *text)
{
    return (struct EncodedPiece){text, strlen(text)};
}

static void check_entry(const struct Encoded *table, uint64_t key,
                        const char *first, const char *second)
{
    const struct EncodedEntry *entry = Encoded_find(table, key);

    assert_non_null(entry);
    assert_int_equal(entry->first, strlen(first));
    assert_int_equal(entry->second, strlen(second));
    assert_memory_equal(Encoded_first(table, entry), first, entry->first);
    assert_memory_equal(Encoded_second(table, entry), second, entry->second);
}

static void an_empty_table_has_nothing(void **state)
{
    struct Encoded table = {0};

    (void)state;
    assert_null(Encoded_find(&table, 0));
    Encoded_clear(&table);
    Encoded_release(&table);
}

static void pieces_are_found_again(void **state)
{
    struct Encoded table = {0};
    char first[32], second[32];
    uint64_t i;

    (void)state;
    for (i = 0; i < 10000; i++) {
        snprintf(first, sizeof first, "first %d", (int)i);
        snprintf(second, sizeof second, "%d", (int)(i * i));
        assert_non_null(Encoded_add(&table, i << 40 | i % 7, piece(first),
                                    piece(i % 3 ? second : "")));
    }
    assert_null(Encoded_find(&table, 1));
    for (i = 0; i < 10000; i++) {
        snprintf(first, sizeof first, "first %d", (int)i);
        snprintf(second, sizeof second, "%d", (int)(i * i));
        check_entry(&table, i << 40 | i % 7, first, i % 3 ? second : "");
    }
    Encoded_clear(&table);
    assert_null(Encoded_find(&table, 0));
    Encoded_release(&table);
}

static void bytes_behind_the_last_piece_may_be_read(void **state)
{
    struct Encoded table = {0};
    const struct EncodedEntry *entry = NULL;
    uint64_t i;

    (void)state;
    for (i = 0; i < 20000; i++)
        entry = Encoded_add(&table, i, piece("abcdefg"), piece(""));
    assert_non_null(entry);
    assert_true(entry->at + ENCODED_OVERREAD <= table.room);
    Encoded_release(&table);
}

static void a_table_that_is_too_large_begins_anew(void **state)
{
    static char text[4096];
    const struct EncodedEntry *entry;
    struct Encoded table = {0};
    uint64_t i;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    for (i = 0; i < 2 * ENCODED_BYTES / sizeof text; i++) {
        entry = Encoded_add(&table, i, piece(text), piece("y"));
        assert_non_null(entry);
        assert_int_equal(entry->key, i);
    }
    assert_true(table.room <= 2 * ENCODED_BYTES);
    assert_true(table.count < i);
    check_entry(&table, i - 1, text, "y");
    assert_null(Encoded_find(&table, 0));
    Encoded_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_has_nothing),
        cmocka_unit_test(pieces_are_found_again),
        cmocka_unit_test(bytes_behind_the_last_piece_may_be_read),
        cmocka_unit_test(a_table_that_is_too_large_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
