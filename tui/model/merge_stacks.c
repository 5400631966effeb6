// SPDX-License-Identifier: MIT
#include "tui/model/merge_stacks.h"

#include "ipc/base/utf8.h"
#include "tui/model/row.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct Stacks {
    struct FlameTable *out;
    struct FlameRow *rows;
    struct FlameFunction *functions;
    struct FlameWait *waits;
    size_t row_count, function_count, wait_count;
    struct IdMap places; // Hash of parent and function -> index of the row + 1.
    struct IdMap waited; // Hash of parent and kind -> index of the wait + 1.
    struct IdMap listed; // Ids of the functions in `functions`.
    // C functions of the process whose stacks are added: its ids -> merged ids.
    struct IdMap natives;
    bool failed; // Memory is out.
};

static uint64_t sum_ns(uint64_t a, uint64_t b)
{
    return a == NULL_U64 ? b : b == NULL_U64 ? a : a + b;
}

static uint64_t key_of(uint64_t parent, uint64_t id)
{
    return (parent << 40 ^ id) * UINT64_C(0xFF51AFD7ED558CCD);
}

// Each process gives its C functions ids of its own. The merged id of a C
// function is a hash of its file and its address, so that the id is the same in
// each merged table.
static uint64_t native_id(const struct FlameFunction *function)
{
    uint64_t hash = Utf8_hash(function->address, function->file);
    hash = key_of(0, Utf8_hash(hash, function->build)) >> 32;
    if (!function->file) // Callers that are not known.
        return FLAME_NATIVE_ID;
    return FLAME_NATIVE_ID + 1 + hash % (FLAME_WAIT_ID - FLAME_NATIVE_ID - 1);
}

// Returns the merged id of a process's function, or 0 if there is none.
static uint64_t id_of(const struct Stacks *stacks,
                      const struct MergeStacks *part, uint64_t id)
{
    bool native = FlameNative_is(id);
    uint64_t found = IdMap_find(native ? &stacks->natives : part->ids, id);
    return native && !found ? FLAME_NATIVE_ID : found;
}

static void find_natives(struct Stacks *stacks, const struct FlameTable *from)
{
    for (size_t i = 0; i < from->function_count && !stacks->failed; i++) {
        const struct FlameFunction *function = &from->functions[i];
        if (!FlameNative_is(function->id))
            continue;
        uint64_t *id = IdMap_at(&stacks->natives, function->id);
        stacks->failed |= !id;
        if (id)
            *id = native_id(function);
    }
}

static void add_times(struct FlameRow *out, const struct FlameRow *row)
{
    out->share = Row_sum(out->share, row->share);
    out->c_share = Row_sum(out->c_share, row->c_share);
    out->cpu_ns = sum_ns(out->cpu_ns, row->cpu_ns);
    out->c_ns = sum_ns(out->c_ns, row->c_ns);
}

// Adds the row of a process below the merged row `parent`. Returns the index of
// the merged row.
static uint32_t add_row(struct Stacks *stacks, uint32_t parent,
                        const struct FlameRow *row, uint64_t id)
{
    uint64_t *place = IdMap_at(&stacks->places, key_of(parent, id));
    if (!place) {
        stacks->failed = true;
        return 0;
    }
    if (!*place) {
        *place = stacks->row_count + 1;
        stacks->rows[stacks->row_count++] =
            (struct FlameRow){.parent = parent,
                              .id = id,
                              .share = NAN,
                              .c_share = NAN,
                              .cpu_ns = NULL_U64,
                              .c_ns = NULL_U64};
    }
    add_times(&stacks->rows[*place - 1], row);
    return (uint32_t)(*place - 1);
}

static void add_waits(struct Stacks *stacks, const struct FlameTable *from,
                      const uint32_t *merged)
{
    for (size_t i = 0; i < from->wait_count && !stacks->failed; i++) {
        const struct FlameWait *wait = &from->waits[i];
        if (wait->parent >= from->row_count) // The table is invalid.
            continue;
        uint64_t parent = merged[wait->parent];
        uint64_t id = FLAME_WAIT_ID + WaitKind_of(wait->kind);
        uint64_t *place = IdMap_at(&stacks->waited, key_of(parent, id));
        stacks->failed |= !place;
        if (!place)
            return;
        if (!*place) {
            *place = stacks->wait_count + 1;
            stacks->waits[stacks->wait_count++] = (struct FlameWait){
                parent, WaitKind_name(WaitKind_of(wait->kind)), NAN, NULL_U64};
        }
        struct FlameWait *out = &stacks->waits[*place - 1];
        out->share = Row_sum(out->share, wait->share);
        out->ns = sum_ns(out->ns, wait->ns);
    }
}

static void add_rows(struct Stacks *stacks, const struct MergeStacks *part)
{
    const struct FlameTable *from = part->stacks;
    uint32_t *merged = calloc(from->row_count + 1, sizeof *merged);
    stacks->failed |= !merged;
    for (size_t i = 0; i < from->row_count && !stacks->failed; i++) {
        const struct FlameRow *row = &from->rows[i];
        uint64_t id = id_of(stacks, part, row->id);
        if (i && row->parent >= i) // The table is invalid.
            break;
        // A function that has no merged row gets an id that no merged row has.
        if (!id && row->id != NULL_U64)
            id = row->id | UINT64_C(1) << 63;
        merged[i] = add_row(stacks, i ? merged[row->parent] : UINT32_MAX, row,
                            row->id == NULL_U64 ? NULL_U64 : id);
    }
    if (!stacks->failed)
        add_waits(stacks, from, merged);
    free(merged);
}

static void add_functions(struct Stacks *stacks, const struct MergeStacks *part)
{
    const struct FlameTable *from = part->stacks;
    struct Arena *arena = &stacks->out->arena;
    for (size_t i = 0; i < from->function_count && !stacks->failed; i++) {
        struct FlameFunction function = from->functions[i];
        function.id = id_of(stacks, part, function.id);
        uint64_t *listed =
            function.id ? IdMap_at(&stacks->listed, function.id) : NULL;
        if (!listed || (*listed)++)
            continue;
        function.name = Arena_text(arena, function.name);
        function.file = Arena_text(arena, function.file);
        function.build = Arena_text(arena, function.build);
        stacks->functions[stacks->function_count++] = function;
    }
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct FlameFunction *)a)->id;
    uint64_t y = ((const struct FlameFunction *)b)->id;
    return (x > y) - (x < y);
}

static void reserve(struct Stacks *stacks, const struct MergeStacks *parts,
                    size_t count)
{
    size_t rows = 1, functions = 1, waits = 1;
    for (size_t i = 0; i < count; i++) {
        rows += parts[i].stacks->row_count;
        functions += parts[i].stacks->function_count;
        waits += parts[i].stacks->wait_count;
    }
    stacks->rows =
        Arena_alloc(&stacks->out->arena, rows * sizeof *stacks->rows);
    stacks->functions =
        Arena_alloc(&stacks->out->arena, functions * sizeof *stacks->functions);
    stacks->waits =
        Arena_alloc(&stacks->out->arena, waits * sizeof *stacks->waits);
    stacks->failed = !stacks->rows || !stacks->functions || !stacks->waits;
}

struct FlameTable *MergeStacks_make(const struct MergeStacks *parts,
                                    size_t count)
{
    struct Stacks stacks = {.out = FlameTable_new()};
    if (!stacks.out)
        return NULL;
    reserve(&stacks, parts, count);
    stacks.out->samples = 0;
    for (size_t i = 0; i < count && !stacks.failed; i++) {
        double kept = parts[i].stacks->kept_s;
        uint64_t samples = parts[i].stacks->samples;
        stacks.out->kept_s = fmax(stacks.out->kept_s, kept);
        stacks.out->samples += samples == NULL_U64 ? 0 : samples;
        find_natives(&stacks, parts[i].stacks);
        add_rows(&stacks, &parts[i]);
        add_functions(&stacks, &parts[i]);
        IdMap_release(&stacks.natives);
    }
    if (stacks.row_count)
        stacks.rows[0].parent = NULL_U64;
    if (stacks.function_count)
        qsort(stacks.functions, stacks.function_count, sizeof *stacks.functions,
              by_id);
    stacks.out->rows = stacks.rows;
    stacks.out->row_count = stacks.row_count;
    stacks.out->functions = stacks.functions;
    stacks.out->function_count = stacks.function_count;
    stacks.out->waits = stacks.waits;
    stacks.out->wait_count = stacks.wait_count;
    IdMap_release(&stacks.places);
    IdMap_release(&stacks.waited);
    IdMap_release(&stacks.listed);
    if (!stacks.failed)
        return stacks.out;
    FlameTable_free(stacks.out);
    return NULL;
}
