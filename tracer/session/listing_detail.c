// SPDX-License-Identifier: MIT
// Each row is an instruction, whose hits are computed from the next site
// (instruction with a hook) after it. If control runs straight from the
// instruction to the site, the instruction ran at least as often as the site
// was hit. If a jump may go to an instruction between the two, the site's hits
// say nothing. An exception can come after the instruction and before the site
// is reached. The hits of a site are therefore a lower bound for the
// instruction. The hits are exact only at the site itself, or if every call has
// returned.
#include "tracer/session/listing_detail.h"
#include "ipc/base/heap.h"
#include "tracer/base/lines.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct Step { // How a row (an instruction) influences the flow of control.
    // The first code unit after the row's instruction and its caches.
    uint32_t end;
    bool target; // True if a jump may go to this row.
    // True if the row's instruction is not executed, because the end of a loop
    // jumps over it.
    bool skipped;
    uint64_t jumps; // Lower bound of the number of jumps to this row.
};

struct Walk {
    const struct Code *code;
    const struct Specialisation *history;
    const struct Opcodes *opcodes;
    struct ListingDetailRow *rows;
    struct Step *steps;
    // Number of the row of each code unit. An EXTENDED_ARG belongs to the row
    // of its instruction.
    uint32_t *row_of;
    size_t count;
};

static bool is_named(const struct Walk *walk, size_t row, const char *name)
{
    return !strcmp(walk->opcodes->name[walk->rows[row].opcode], name);
}

static unsigned flags_of(const struct Walk *walk, size_t row)
{
    return walk->opcodes->flags[walk->rows[row].opcode];
}

// Returns the first site at the row's instruction, or NULL. Stores the end of
// the sites at this instruction in *end.
static const struct Site *sites_of(const struct Walk *walk, size_t row,
                                   const struct Site **end)
{
    const struct Code *code = walk->code;
    const struct Site *first = Code_site(code, walk->rows[row].offset);

    *end = first;
    while (first && *end < code->layout.sites + code->layout.site_count &&
           (*end)->unit == first->unit)
        ++*end;
    return first;
}

static uint64_t site_hits(const struct Site *site, const struct Site *end)
{
    uint64_t hits = 0;

    for (; site < end; site++)
        hits += Counter_get(&site->hits);
    return hits;
}

static double site_cycles(const struct Site *site, const struct Site *end)
{
    uint64_t cycles = 0, instructions = 0;

    for (; site < end; site++) {
        cycles += Counter_get(&site->cycles);
        instructions += Counter_get(&site->instructions);
    }
    if (!instructions)
        return NAN;
    // The sum of cycles may be below 0 if the error of the hooks' cost is
    // larger than the time of the block.
    return fmax((double)(int64_t)cycles, 0) / (double)instructions;
}

static void set_live(const struct Walk *walk, struct ListingDetailRow *row)
{
    uint8_t known =
        Specialisation_opcode(walk->history, row->offset / 2, row->opcode);

    row->live = row->opcode;
    row->specialized_once = Specialisation_has(walk->history, row->offset / 2);
    if (walk->opcodes->flags[known] & OPCODE_EXECUTOR)
        row->jitted = true;
    else if (walk->opcodes->flags[known] & OPCODE_SPECIALIZED)
        row->live = known;
}

// Returns false if one arm of a branch has no hook. The hits of one arm alone
// must not be taken as those of the branch.
static bool counts_arms(const struct Walk *walk, const struct Site *site)
{
    return !Code_has_two_arms(walk->code, site) ||
           !(atomic_load_explicit(&site[0].dark, memory_order_relaxed) ||
             atomic_load_explicit(&site[1].dark, memory_order_relaxed));
}

static void set_site(const struct Walk *walk, size_t index)
{
    struct ListingDetailRow *row = &walk->rows[index];
    const struct Site *end, *site = sites_of(walk, index, &end);

    if (!site || site->redundant)
        return;
    row->branch = site->kind == SITE_BRANCH && site_hits(site, end) &&
                  counts_arms(walk, site);
    row->taken = row->branch ? Code_taken(walk->code, site) : 0;
    row->site = row->dark = true;
    if (site->kind <= SITE_RESUME) {
        row->dark = walk->code->hot.dark;
        return;
    }
    for (; site < end; site++)
        row->dark &=
            atomic_load_explicit(&site->dark, memory_order_relaxed) != 0;
}

static void set_samples(const struct Walk *walk, struct ListingDetailRow *row)
{
    const _Atomic uint32_t *samples = Code_instruction_samples(walk->code);

    if (!samples)
        return;
    samples += walk->code->layout.units[row->offset / 2].number;
    row->samples = atomic_load_explicit(samples, memory_order_relaxed);
    samples += Code_instruction_count(walk->code);
    row->c_samples = atomic_load_explicit(samples, memory_order_relaxed);
}

// Fills in one row for each instruction of the function. The bytes of
// EXTENDED_ARGs become a part of the instruction's argument.
static void read_instructions(struct Walk *walk, const uint32_t *lines)
{
    const struct Code *code = walk->code;
    uint32_t unit = 0, argument = 0;

    while (unit < code->layout.unit_count) {
        struct ListingDetailRow *row = &walk->rows[walk->count];
        uint8_t opcode = code->who.bytecode[2 * unit];
        uint32_t end = unit + (uint32_t)Opcodes_length(walk->opcodes, opcode);

        if (end > code->layout.unit_count)
            end = code->layout.unit_count;
        row->offset = 2 * unit;
        row->line = lines[unit];
        row->opcode = opcode;
        row->argument = argument << 8 | code->who.bytecode[2 * unit + 1];
        row->cycles = NAN;
        // An EXTENDED_ARG has the same instruction number as the instruction
        // after it.
        set_samples(walk, row);
        while (unit < end)
            walk->row_of[unit++] = (uint32_t)walk->count;
        argument = row->argument;
        if (walk->opcodes->flags[opcode] & OPCODE_EXTENDED)
            // An EXTENDED_ARG and the instruction after it use the same row.
            continue;
        set_live(walk, row);
        set_site(walk, walk->count);
        walk->steps[walk->count++].end = end;
        argument = 0;
    }
}

// --- Jumps ---

static bool is_jump(const struct Walk *walk, size_t row)
{
    return Opcodes_jumps(walk->opcodes, walk->rows[row].opcode);
}

// Marks the rows to which a loop may jump at its end. The target depends on
// CPython's version, so the row after each instruction that ends a loop is
// marked.
static void mark_exit(struct Walk *walk, size_t row)
{
    while (row + 1 < walk->count &&
           (is_named(walk, row, "END_FOR") || is_named(walk, row, "POP_ITER") ||
            (row && is_named(walk, row, "POP_TOP") &&
             is_named(walk, row - 1, "END_FOR")))) {
        walk->steps[row].skipped = true;
        walk->steps[++row].target = true;
    }
}

static void mark_targets(struct Walk *walk)
{
    size_t row;

    for (row = 0; row < walk->count; row++) {
        const struct Site *end, *site = sites_of(walk, row, &end);
        int64_t step = walk->rows[row].argument, unit;
        size_t target;

        if (!is_jump(walk, row))
            continue;
        unit = walk->steps[row].end;
        unit += Opcodes_jumps_back(walk->opcodes, walk->rows[row].opcode)
                    ? -step
                    : step;
        if (unit < 0 || unit >= walk->code->layout.unit_count)
            // A jump out of the bytecode shows that the bytecode does not
            // belong to this interpreter.
            continue;
        target = walk->row_of[unit];
        if (target >= walk->count)
            continue;
        walk->steps[target].target = true;
        if (site && site->kind == SITE_JUMP)
            walk->steps[target].jumps += site_hits(site, end);
        if (flags_of(walk, row) & OPCODE_ITER)
            mark_exit(walk, target);
    }
}

// --- Hits and cycles ---

static bool has_opcode(const struct Walk *walk, const char *name)
{
    size_t row;

    for (row = 0; row < walk->count; row++)
        if (is_named(walk, row, name))
            return true;
    return false;
}

struct Totals {
    uint64_t returns;
    bool resumes; // True if the function can be suspended.
    // True if each call of the function has returned, so that no call is
    // running and none was ended by an exception.
    bool conserved;
};

static struct Totals count_returns(const struct Walk *walk)
{
    const struct Code *code = walk->code;
    struct Totals totals = {0, has_opcode(walk, "RETURN_GENERATOR"), false};
    uint32_t i;

    for (i = 0; i < code->layout.site_count; i++) {
        const struct Site *site = &code->layout.sites[i];

        totals.resumes |= site->kind == SITE_RESUME || site->kind == SITE_YIELD;
        if (site->kind == SITE_RETURN)
            totals.returns += Counter_get(&site->hits);
    }
    totals.conserved = code->hot.exact && !totals.resumes &&
                       totals.returns == Counter_get(&code->hot.entries) &&
                       !has_opcode(walk, "PUSH_EXC_INFO");
    return totals;
}

// Fills in the hits and the cycles of all rows. The loop goes backwards, and
// each row takes the numbers of the next site after it.
static void spread_sites(struct Walk *walk, bool conserved)
{
    bool known = false;
    uint64_t hits = 0;
    double cycles = NAN;
    size_t row = walk->count;

    while (row--) {
        const struct Site *end, *site = sites_of(walk, row, &end);
        struct ListingDetailRow *at = &walk->rows[row];
        bool ends = at->site && site->kind > SITE_RESUME;
        bool leaves = !ends && (site || is_jump(walk, row)) &&
                      !(site && site->kind <= SITE_RESUME);

        if (ends) {
            known = true;
            hits = site_hits(site, end);
            cycles = site_cycles(site, end);
        } else if (Opcodes_ends(walk->opcodes, at->opcode)) {
            known = false;
            cycles = NAN;
        }
        at->cycles = walk->steps[row].skipped ? NAN : cycles;
        if (known) {
            at->hits = hits;
            at->exact = walk->code->hot.exact && !leaves && (ends || conserved);
        }
        // Jumps may also lead to this row, so their number is a lower bound,
        // too.
        if (leaves && walk->steps[row].jumps > at->hits)
            at->hits = walk->steps[row].jumps;
        if (leaves || walk->steps[row].target)
            known = false;
    }
}

// Each call runs the rows before the first branch or jump exactly once. The
// rows before the first branch or jump therefore ran at least as often as the
// function has returned.
static void spread_entry(struct Walk *walk, const struct Totals *totals)
{
    uint64_t calls = Counter_get(&walk->code->hot.entries);
    uint64_t floor = calls < totals->returns ? calls : totals->returns;
    size_t row;

    for (row = 0; row < walk->count; row++) {
        struct ListingDetailRow *at = &walk->rows[row];
        const struct Site *end, *site = sites_of(walk, row, &end);
        bool start = site && site->kind == SITE_START;

        if ((row && walk->steps[row].target) || is_jump(walk, row))
            return;
        if (start && !totals->resumes) {
            at->hits = calls;
            at->exact = walk->code->hot.exact;
        } else if (!at->exact) {
            at->hits = at->hits > floor ? at->hits : floor;
            at->exact = totals->conserved;
        }
        if (site && !start)
            return;
    }
}

// --- Precise mode ---

// Returns a lower bound of the number of executions of a RESUME, which has no
// event of its own. The lower bound is the number of hits of the next
// instruction, or 0 if a jump may go to that instruction.
static uint64_t resumed(const struct Walk *walk, size_t row)
{
    if (row + 1 == walk->count || walk->steps[row + 1].target)
        return 0;
    return walk->rows[row + 1].hits;
}

// Fills in each row's own measured numbers. The loop goes backwards, because a
// RESUME takes the hits of the next row.
static void read_own(struct Walk *walk, const struct Totals *totals)
{
    const struct Code *code = walk->code;
    bool begun = false; // True after the function's first RESUME instruction.
    size_t row = walk->count;

    while (row--) {
        struct ListingDetailRow *at = &walk->rows[row];
        uint32_t unit = at->offset / 2;
        const struct Instruction *own =
            &code->layout.instructions[code->layout.units[unit].number];
        const struct Site *end, *site = sites_of(walk, row, &end);
        uint64_t timed = Counter_get(&own->timed);

        // A code unit has no counters of its own if no instruction begins
        // there.
        if (own->unit != unit)
            continue;
        if (timed)
            at->cycles = fmax((double)(int64_t)Counter_get(&own->cycles), 0) /
                         (double)timed;
        if (own->flags & INSTRUCTION_FIRES) {
            at->site = true;
            at->dark = atomic_load_explicit(&own->dark, memory_order_relaxed);
            at->hits = Counter_get(&own->hits);
            at->exact =
                !atomic_load_explicit(&own->floor, memory_order_relaxed);
            // If the instruction has a site that is not redundant, its cycles
            // were counted at the site.
            if (site && !site->redundant)
                at->cycles = site_cycles(site, end);
        } else if (site && site->kind <= SITE_RESUME) {
            at->hits = resumed(walk, row);
        }
    }
    // Every call runs the first RESUME and all instructions before it.
    for (row = 0; row < walk->count && !begun && !totals->resumes; row++) {
        const struct Site *end, *site = sites_of(walk, row, &end);

        begun = site && site->kind == SITE_START;
        walk->rows[row].hits = Counter_get(&code->hot.entries);
        walk->rows[row].exact = code->hot.calls_exact;
    }
}

int ListingDetail_init(struct ListingDetail *detail, const struct Code *code,
                       const struct Specialisation *history,
                       const struct Opcodes *opcodes)
{
    size_t units = (size_t)code->layout.unit_count + 1;
    uint32_t *lines = Heap_alloc(units * sizeof *lines);
    struct Walk walk = {.code = code, .history = history, .opcodes = opcodes};
    struct Totals totals;
    int error = -ENOMEM;

    memset(detail, 0, sizeof *detail);
    walk.rows = Heap_zeroed(units, sizeof *walk.rows);
    walk.steps = Heap_zeroed(units, sizeof *walk.steps);
    walk.row_of = Heap_alloc(units * sizeof *walk.row_of);
    if (lines && walk.rows && walk.steps && walk.row_of) {
        Lines_decode(lines, code->layout.unit_count, code->who.line_table,
                     code->who.line_table_size, code->who.line);
        read_instructions(&walk, lines);
        mark_targets(&walk);
        totals = count_returns(&walk);
        if (code->layout.instructions) {
            read_own(&walk, &totals);
        } else {
            spread_sites(&walk, totals.conserved);
            spread_entry(&walk, &totals);
        }
        // The bytecode of a stand-in (for C code) never runs, so it has no
        // rows.
        *detail = (struct ListingDetail){
            walk.rows, Code_is_stand_in(code) ? 0 : walk.count,
            code->layout.instructions != NULL};
        walk.rows = NULL;
        error = 0;
    }
    Heap_free(lines);
    Heap_free(walk.rows);
    Heap_free(walk.steps);
    Heap_free(walk.row_of);
    return error;
}

void ListingDetail_release(struct ListingDetail *detail)
{
    Heap_free(detail->rows);
    memset(detail, 0, sizeof *detail);
}
