// SPDX-License-Identifier: MIT
// Tests the text in each instruction's row of a listing, and that no row says
// anything wrong.
#include "tests/tracer/make_opcodes.h"
#include "tracer/code/specialisation_scan.h"
#include "tracer/session/listing_detail.h"

#include <math.h>

#define OWN_MAIN
#include "tests/unit.h"

static struct Opcodes opcodes;

// def f(n):
//     for i in n:
//         if i: t += i
//         t -= i
//     return t
// clang-format off
static const uint8_t loop_code[] = {
    RESUME, 0,                      //  0
    LOAD_FAST, 0,                   //  2
    GET_ITER, 0,                    //  4
    FOR_ITER, 14, CACHE, 0,         //  6, to 38
    STORE_FAST, 1,                  // 10
    LOAD_FAST, 1,                   // 12
    POP_JUMP_IF_FALSE, 4, CACHE, 0, // 14, to 26
    LOAD_FAST, 2,                   // 18
    BINARY_OP, 0, CACHE, 0,         // 20
    STORE_FAST, 2,                  // 24
    LOAD_FAST, 2,                   // 26
    BINARY_OP, 1, CACHE, 0,         // 28
    STORE_FAST, 2,                  // 32
    JUMP_BACKWARD, 16, CACHE, 0,    // 34, to 6
    END_FOR, 0,                     // 38
    POP_TOP, 0,                     // 40
    LOAD_FAST, 2,                   // 42
    RETURN_VALUE, 0,                // 44
};
// clang-format on

static struct Code *code_of(const void *bytecode, size_t size, bool two_arms)
{
    const uint8_t lines[] = {0x80 | 11 << 3 | 7, 0, 0};
    const struct CodeSource source = {
        .name = "f",
        .file = "f.py",
        .line = 10,
        .bytecode = bytecode,
        .bytecode_size = size,
        .line_table = lines,
        .line_table_size = sizeof lines,
    };

    return Code_new(1, &source, &opcodes, 500, two_arms);
}

static struct ListingDetailRow *row_at(struct ListingDetail *detail,
                                       uint32_t offset)
{
    size_t i;

    for (i = 0; i < detail->row_count; i++)
        if (detail->rows[i].offset == offset)
            return &detail->rows[i];
    return NULL;
}

static void hit(struct Code *code, size_t offset, uint64_t hits,
                uint64_t cycles, uint64_t instructions)
{
    struct Site *site = Code_site(code, offset);

    Counter_set(&site->hits, hits);
    Counter_set(&site->cycles, cycles);
    Counter_set(&site->instructions, instructions);
}

// Makes a function with 3 calls, in which loops had 100 iterations each.
static struct Code *looped(void)
{
    struct Code *code = code_of(loop_code, sizeof loop_code, false);

    Counter_set(&code->hot.entries, 3);
    hit(code, 14, 300, 300 * 4 * 20, 300 * 4);
    hit(code, 34, 300, 300 * 50, 300 * 5);
    hit(code, 44, 3, 0, 0);
    return code;
}

static void expect(struct ListingDetail *detail, uint32_t offset, uint64_t hits,
                   bool exact)
{
    struct ListingDetailRow *row = row_at(detail, offset);

    assert_non_null(row);
    if (row->hits != hits || row->exact != exact)
        fail_msg("offset %u: %llu hits, exact %d", offset,
                 (unsigned long long)row->hits, row->exact);
}

TEST(a_loop_all_of_which_returned)
{
    struct Code *code = looped();
    struct ListingDetail detail;

    assert_int_equal(
        ListingDetail_init(&detail, code, &code->poll.history, &opcodes), 0);
    assert_int_equal(detail.row_count, 18);
    assert_int_equal(detail.id, 1);
    expect(&detail, 0, 3, true);
    expect(&detail, 2, 3, true);
    expect(&detail, 4, 3, true);
    expect(&detail, 6, 300, false); // The instruction ran 303 times.
    expect(&detail, 10, 300, true);
    expect(&detail, 14, 300, true);
    // The counters do not show which arm of the branch ran.
    expect(&detail, 18, 0, false);
    expect(&detail, 24, 0, false);
    expect(&detail, 26, 300, true);
    expect(&detail, 34, 300, true);
    // The end of the loop skips this instruction.
    expect(&detail, 38, 0, false);
    expect(&detail, 40, 0, false);
    expect(&detail, 42, 3, true);
    expect(&detail, 44, 3, true);
    ListingDetail_release(&detail);
    Code_free(code);
}

TEST(what_may_have_raised_is_a_floor)
{
    struct Code *code = looped();
    struct ListingDetail detail;

    Counter_set(&code->hot.entries, 5); // Two of these calls did not return.
    ListingDetail_init(&detail, code, &code->poll.history, &opcodes);
    expect(&detail, 0, 5, true);
    expect(&detail, 2, 3, false);
    expect(&detail, 10, 300, false);
    // The hits of a site are counted, so their number is exact.
    expect(&detail, 14, 300, true);
    expect(&detail, 26, 300, false);
    expect(&detail, 44, 3, true);
    ListingDetail_release(&detail);
    code->hot.exact = false;
    Counter_set(&code->hot.entries, 3);
    atomic_store(&Code_site(code, 34)->dark, 1);
    ListingDetail_init(&detail, code, &code->poll.history, &opcodes);
    expect(&detail, 0, 3, false);
    expect(&detail, 14, 300, false);
    expect(&detail, 26, 300, false);
    assert_true(row_at(&detail, 34)->dark);
    assert_false(row_at(&detail, 14)->dark);
    assert_false(row_at(&detail, 0)->dark);
    ListingDetail_release(&detail);
    Code_free(code);
}

// Runs of the instructions after a RETURN or a RAISE do not show that the
// instructions before it ran.
TEST(blocks_do_not_leak_into_each_other)
{
    // clang-format off
    const uint8_t bytes[] = {
        RESUME, 0,                      //  0
        LOAD_FAST, 0,                   //  2
        POP_JUMP_IF_FALSE, 2, CACHE, 0, //  4, to 12
        LOAD_FAST, 0,                   //  8
        RAISE_VARARGS, 1,               // 10
        LOAD_FAST, 1,                   // 12
        RETURN_VALUE, 0,                // 14
        PUSH_EXC_INFO, 0,               // 16
        RETURN_VALUE, 0,                // 18
    };
    // clang-format on
    struct Code *code = code_of(bytes, sizeof bytes, false);
    struct ListingDetail detail;

    Counter_set(&code->hot.entries, 9);
    hit(code, 4, 9, 90, 9);
    hit(code, 14, 7, 70, 7);
    hit(code, 18, 2, 0, 0);
    ListingDetail_init(&detail, code, &code->poll.history, &opcodes);
    expect(&detail, 0, 9, true);
    expect(&detail, 2, 9, false); // A handler can have ended the block.
    expect(&detail, 4, 9, true);
    expect(&detail, 8, 0, false);
    expect(&detail, 10, 0, false);
    assert_true(isnan(row_at(&detail, 8)->cycles));
    expect(&detail, 12, 7, false);
    expect(&detail, 14, 7, true);
    expect(&detail, 16, 2, false);
    ListingDetail_release(&detail);
    Code_free(code);
}

// Scans the live bytecode once.
static int scan(struct Code *code, const uint8_t *live)
{
    static struct Clock clock;
    struct Transitions *log = malloc(sizeof *log);
    int error;

    if (!log)
        abort();
    if (!clock.start_ticks)
        Clock_start(&clock);
    Transitions_init(log, &opcodes, &clock, 1);
    error = Specialisation_scan(code, live, &opcodes, log, 1);
    Transitions_release(log);
    free(log);
    return error;
}

TEST(damaged_code_is_survived)
{
    uint8_t bytes[200];
    uint32_t seed = 7;
    unsigned round, i;

    for (round = 0; round < 5000; round++) {
        size_t size = 2 * (seed % 100);
        struct Code *code;
        struct ListingDetail detail;

        for (i = 0; i < size; i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] =
                (uint8_t)(seed >> 24) % (i % 2 || !(seed & 7) ? 255 : 18);
        }
        seed = seed * 1664525 + 1013904223;
        code = code_of(bytes, size, seed >> 31);
        scan(code, bytes);
        assert_int_equal(
            ListingDetail_init(&detail, code, &code->poll.history, &opcodes),
            0);
        ListingDetail_release(&detail);
        Code_free(code);
    }
}

int main(void)
{
    make_opcodes(&opcodes);
    return Unit_run(NULL, NULL);
}
