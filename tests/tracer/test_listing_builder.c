// SPDX-License-Identifier: MIT
// Of a detail and words the listing that a viewer gets: text of arguments,
// targets of jumps, callees of calls.
#include "tests/tracer/make_opcodes.h"
#include "tracer/session/listing_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    LOAD_GLOBAL = 30, // 1 cache
    LOAD_ATTR,        // 1 cache
    LOAD_NAME,
    PUSH_NULL,
    LOAD_CONST,
    CALL, // 1 cache
    MAKE_FUNCTION,
    PAIR
};

static struct Opcodes opcodes;
static struct OperandText *words;

static void add_opcode(int number, const char *name, int caches, int flags,
                       struct Operand operand)
{
    set_opcode(&opcodes, number, name, number, caches, flags);
    opcodes.operand[number] = operand;
}

static void make_all(void)
{
    make_opcodes(&opcodes);
    add_opcode(LOAD_GLOBAL, "LOAD_GLOBAL", 1, 0,
               (struct Operand){OPERAND_NAME, 1, 0, 0, true});
    add_opcode(LOAD_ATTR, "LOAD_ATTR", 1, 0,
               (struct Operand){OPERAND_NAME, 1, 0, 0, true});
    add_opcode(LOAD_NAME, "LOAD_NAME", 0, 0,
               (struct Operand){OPERAND_NAME, 0, 0, 0, false});
    add_opcode(PUSH_NULL, "PUSH_NULL", 0, 0, (struct Operand){0});
    add_opcode(LOAD_CONST, "LOAD_CONST", 0, 0,
               (struct Operand){OPERAND_CONST, 0, 0, 0, false});
    add_opcode(CALL, "CALL", 1, OPCODE_CALL,
               (struct Operand){OPERAND_NUMBER, 0, 0, 0, false});
    add_opcode(MAKE_FUNCTION, "MAKE_FUNCTION", 0, 0, (struct Operand){0});
    add_opcode(PAIR, "LOAD_FAST_LOAD_FAST", 0, 0,
               (struct Operand){OPERAND_LOCALS, 0, 0, 0, false});
    opcodes.operand[LOAD_FAST] =
        (struct Operand){OPERAND_LOCAL, 0, 0, 0, false};
    opcodes.operand[JUMP_FORWARD] =
        (struct Operand){OPERAND_JUMP, 0, 0, 0, false};
    opcodes.operand[BINARY_OP] = (struct Operand){OPERAND_TEXT, 0, 3, 2, false};
    snprintf(opcodes.texts[3], sizeof opcodes.texts[3], "+");
    snprintf(opcodes.texts[4], sizeof opcodes.texts[4], "-");
    words = OperandText_new(1);
    OperandText_add(words, TEXT_NAMES, "json");
    OperandText_add(words, TEXT_NAMES, "loads");
    OperandText_add(words, TEXT_LOCALS, "self");
    OperandText_add(words, TEXT_LOCALS, "x");
    OperandText_add(words, TEXT_CONSTS, "'[1]'");
}

static struct Code *code_of(const uint8_t *bytecode, size_t size)
{
    const struct CodeSource source = {.name = "f",
                                      .file = "f.py",
                                      .line = 10,
                                      .bytecode = bytecode,
                                      .bytecode_size = size,
                                      .line_table = bytecode};

    return Code_new(1, &source, &opcodes, 500, false);
}

// Everything is freed but the listing, which must not need it.
static struct Listing *list(const uint8_t *bytecode, size_t size,
                            const struct OperandText *known)
{
    struct Code *code = code_of(bytecode, size);
    struct ListingDetail detail;
    struct Listing *listing;

    assert_int_equal(
        ListingDetail_init(&detail, code, &code->poll.history, &opcodes), 0);
    listing = ListingBuilder_make(
        &(struct ListingBuilderSource){code, &detail, known, &opcodes, false});
    ListingDetail_release(&detail);
    Code_free(code);
    assert_non_null(listing);
    return listing;
}

static const struct ListingRow *row_at(const struct Listing *listing,
                                       uint64_t offset)
{
    for (size_t i = 0; i < listing->row_count; i++)
        if (listing->rows[i].offset == offset)
            return &listing->rows[i];
    fail_msg("no row at %d", (int)offset);
    return NULL;
}

static void test_words_of_each_kind(void **state)
{
    static const uint8_t code[] = {
        RESUME,    0,    LOAD_FAST, 1, LOAD_CONST,   0, LOAD_NAME, 1,
        PAIR,      0x10, BINARY_OP, 1, CACHE,        0, LOAD_FAST, 9,
        BINARY_OP, 7,    CACHE,     0, RETURN_VALUE, 0};
    struct Listing *listing = list(code, sizeof code, words);

    (void)state;
    assert_string_equal(listing->name, "f");
    assert_string_equal(listing->file, "f.py");
    assert_int_equal(listing->line, 10);
    assert_int_equal(listing->words, 1);
    assert_string_equal(row_at(listing, 2)->words, "x");
    assert_string_equal(row_at(listing, 4)->words, "'[1]'");
    assert_string_equal(row_at(listing, 6)->words, "loads");
    assert_string_equal(row_at(listing, 8)->words, "x, self");
    assert_string_equal(row_at(listing, 10)->words, "-");
    assert_null(row_at(listing, 14)->words); // there is no such variable
    assert_int_equal(row_at(listing, 14)->argument, 9);
    assert_null(row_at(listing, 16)->words); // nor such an operator
    assert_true(row_at(listing, 20)->argument == NULL_U64);
    assert_true(row_at(listing, 20)->samples == NULL_U64);
    Listing_free(listing);
    listing = list(code, sizeof code, NULL); // words are to come
    assert_int_equal(listing->words, 0);
    assert_null(row_at(listing, 2)->words);
    assert_string_equal(row_at(listing, 10)->words, "-");
    Listing_free(listing);
}

static void test_jumps_go_to_rows(void **state)
{
    static const uint8_t code[] = {
        RESUME,       0,  JUMP_FORWARD,  1, // 2, to 6: an EXTENDED_ARG
        NOP,          0,  EXTENDED_ARG,  1, // 6
        LOAD_FAST,    0,  JUMP_BACKWARD, 4, CACHE, 0, // 10, to 6
        JUMP_FORWARD, 99,                             // 14: nowhere
        RETURN_VALUE, 0};
    struct Listing *listing = list(code, sizeof code, words);

    (void)state;
    assert_int_equal(row_at(listing, 2)->target, 8);
    assert_int_equal(row_at(listing, 8)->argument, 256);
    assert_int_equal(row_at(listing, 10)->target, 8);
    assert_true(row_at(listing, 14)->target == NULL_U64);
    assert_true(row_at(listing, 4)->target == NULL_U64);
    Listing_free(listing);
}

// A method of an object without a name has its own name only, and the call of a
// new function none.
static void test_callees_without_a_whole_name(void **state)
{
    static const uint8_t code[] = {
        RESUME,        0, LOAD_GLOBAL, 1, CACHE,    0, // json, to be called
        LOAD_CONST,    0, LOAD_ATTR,   3, CACHE,    0, // "[1]".loads, a method
        CALL,          0, CACHE,       0,              // 12
        MAKE_FUNCTION, 0, LOAD_FAST,   1, GET_ITER, 0,
        CALL,          0, CACHE,       0, // 22: a generator expression
        CALL,          2, CACHE,       0, // 26
        RETURN_VALUE,  0};
    struct Listing *listing = list(code, sizeof code, words);

    (void)state;
    assert_string_equal(row_at(listing, 12)->callee, ".loads");
    assert_null(row_at(listing, 22)->callee);
    assert_string_equal(row_at(listing, 26)->callee, "json");
    Listing_free(listing);
}

static void test_calls_in_calls_without_end(void **state)
{
    uint8_t code[2 + 4 * 500 + 4 * 500 + 2] = {RESUME};
    struct Listing *listing;
    size_t i;

    (void)state;
    for (i = 0; i < 500; i++) {
        code[2 + 4 * i] = LOAD_GLOBAL;
        code[3 + 4 * i] = i == 499 ? 3 : 1;
        code[2 + 4 * (500 + i)] = CALL;
        code[3 + 4 * (500 + i)] = 1;
    }
    code[sizeof code - 2] = RETURN_VALUE;
    listing = list(code, sizeof code, words);
    assert_string_equal(row_at(listing, 2 + 2000)->callee, "loads");
    assert_string_equal(row_at(listing, 2 + 2000 + 4 * 63)->callee, "json");
    assert_null(row_at(listing, 2 + 2000 + 4 * 64)->callee);
    Listing_free(listing);
}

static void test_a_part_of_what_is_too_long(void **state)
{
    size_t size = 2 * (LISTING_ROWS + 1000);
    uint8_t *code = calloc(1, size);
    struct Listing *listing;

    (void)state;
    for (size_t i = 0; i < size; i += 2)
        code[i] = NOP;
    code[0] = RESUME;
    code[size - 2] = RETURN_VALUE;
    listing = list(code, size, words);
    assert_int_equal(listing->instructions, LISTING_ROWS + 1000);
    assert_int_equal(listing->row_count, LISTING_ROWS);
    assert_int_equal(listing->rows[LISTING_ROWS - 1].offset,
                     2 * (LISTING_ROWS - 1));
    Listing_free(listing);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_each_kind),
        cmocka_unit_test(test_jumps_go_to_rows),
        cmocka_unit_test(test_callees_without_a_whole_name),
        cmocka_unit_test(test_calls_in_calls_without_end),
        cmocka_unit_test(test_a_part_of_what_is_too_long),
    };
    int failed;

    make_all();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    OperandText_free(words);
    return failed;
}
