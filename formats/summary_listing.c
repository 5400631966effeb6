// SPDX-License-Identifier: MIT
// The record of a specialisation contains the function, the line and both
// opcodes, but not the offset of the instruction. The listing therefore shows a
// specialisation at each instruction that has its line and its opcode.
#include "formats/summary_listing.h"
#include "tracer/timeline/ring.h"

#define UNIT_BYTES 2u

static const char *opcode(const struct StretchSums *sums, struct Listing *out,
                          uint8_t number)
{
    return Arena_text(&out->arena,
                      Opcodes_text(sums->reader->trace.opcodes, number));
}

static void fill_row(const struct StretchSums *sums, struct Listing *out,
                     struct ListingRow *row, const struct Sum *sum)
{
    const struct Event step = {0, sum->what};
    uint32_t line = (uint32_t)step.what;
    uint8_t base = (uint8_t)(step.what >> 48);
    uint64_t i, kept = sums->change_count < STRETCH_CHANGES ? sums->change_count
                                                            : STRETCH_CHANGES;

    Record_clear(&LISTING_ROW_RECORD, row);
    row->offset = (uint64_t)UNIT_BYTES * Sum_second(sum);
    row->line = line ? line : NULL_U64;
    row->opcode = opcode(sums, out, base);
    row->samples = sum->samples;
    row->c_samples = sum->calls;
    for (i = 0; i < kept && line; i++) {
        const struct StretchChange *change = &sums->changes[i];

        if (change->id == Sum_first(sum) && change->line == line &&
            change->from == base && change->to != base) {
            row->live = opcode(sums, out, change->to);
            row->was_specialized = 1;
        }
    }
}

struct Listing *SummaryListing_make(const struct StretchSums *sums, uint64_t id)
{
    size_t i, count;
    const struct Sum *found =
        SumTable_of(&sums->instructions, (uint32_t)id, &count);
    struct Listing *out = count ? Listing_new() : NULL;
    struct PerfettoName name = {0};
    struct ListingRow *rows;

    if (!out)
        return NULL;
    if (count > LISTING_ROWS)
        count = LISTING_ROWS;
    StretchSums_name(sums, (uint32_t)id, &name);
    out->id = id;
    out->name = Arena_text(&out->arena, name.name ? name.name : "<retired>");
    out->file = Arena_text(&out->arena, name.file);
    out->line = name.line ? name.line : NULL_U64;
    out->precise = 0;
    out->instructions = count;
    out->words = 1;
    out->process_start_s = (double)sums->reader->trace.start_unix_ns / 1e9;
    // The listing is made from samples of `at_s` seconds.
    out->at_s = StretchSums_length(sums);
    rows = Arena_alloc(&out->arena, count * sizeof *rows);
    for (i = 0; rows && i < count; i++)
        fill_row(sums, out, &rows[i], &found[i]);
    out->rows = rows;
    out->row_count = rows ? count : 0;
    return out;
}
