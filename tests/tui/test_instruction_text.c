// SPDX-License-Identifier: MIT
// Tests the texts that the viewer shows for an instruction.
#include "tui/model/annotate_state.h"
#include "tui/views/instruction_text.h"

#include "tests/unit.h"

static char said[200];
static enum Style style;

static const char *never(struct ListingRow row)
{
    InstructionText_never(said, sizeof said, &row);
    return said;
}

static const char *in_short(struct ListingRow row)
{
    row.opcode = "BINARY_OP";
    style = InstructionText_short(said, sizeof said, &row);
    return said;
}

// The viewer shows "never ran" only if every hit was counted.
TEST(test_never)
{
    struct ListingRow row = {.hits_exact = 1};
    assert_string_equal(never(row), "(never ran)");
    row.hits_exact = 0;
    assert_string_equal(never(row), "");
    row.specializable = 1;
    assert_string_equal(never(row), "(never specialised)");
    row.hits = NULL_U64;
    assert_string_equal(never(row), "(never specialised)");
    row.hits = 512;
    assert_string_equal(never(row), "(never specialised after >=512)");
    row.hits_exact = 1;
    assert_string_equal(never(row), "(never specialised after 512)");
    row.was_specialized = 1;
    assert_string_equal(never(row), "(deoptimised)");
}

TEST(test_in_short)
{
    struct ListingRow row = {.specializable = 1, .hits = 512};
    assert_string_equal(in_short(row), "-> never");
    assert_int_equal(style, STYLE_FAINT);
    row.hits = 0; // Perhaps it never ran.
    assert_string_equal(in_short(row), "");
    row.hits = NULL_U64;
    assert_string_equal(in_short(row), "");
    row.was_specialized = 1;
    assert_string_equal(in_short(row), "-> deopt!");
    assert_int_equal(style, STYLE_ALERT);
    row.live = "BINARY_OP_ADD_INT";
    assert_string_equal(in_short(row), "-> ADD_INT");
    assert_int_equal(style, STYLE_ARMED);
    row.live = "BINARY_OPERATION";
    assert_string_equal(in_short(row), "-> BINARY_OPERATION");
}

// The text of a call instruction shows the share of its time in C code, if this
// share is large.
TEST(test_what_is_called)
{
    struct ListingRow row = {.target = NULL_U64,
                             .argument = 1,
                             .callee = "json.loads",
                             .c_samples = 61};
    struct Listing listing = {.rows = &row, .row_count = 1};
    struct AnnotateState view = {.listing = &listing,
                                 .annotation = {.samples = 100}};
    InstructionText_operand(said, sizeof said, &view, &row);
    assert_string_equal(said, "1  61% in C: json.loads");
    row.c_samples = 0;
    InstructionText_operand(said, sizeof said, &view, &row);
    assert_string_equal(said, "1  json.loads");
    row.c_samples = 61;
    view.annotation.samples = 0;
    InstructionText_operand(said, sizeof said, &view, &row);
    assert_string_equal(said, "1  json.loads");
}
