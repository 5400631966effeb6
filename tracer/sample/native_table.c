// SPDX-License-Identifier: MIT
#include "tracer/sample/native_table.h"

#include "ipc/base/array.h"
#include "tracer/sample/memory.h"

#include <stdatomic.h>

#define PAGE 4096u
// In a function's last instructions, the saved rbp lies up to this far below
// rsp.
#define RED_ZONE 128

// --- Rows --------------------------------------------------------------------

struct NativeIndex *NativeIndex_new(struct NativeRows *rows)
{
    struct NativeIndex *index = Heap_zeroed(1, sizeof *index);
    size_t at = 0;

    if (index) {
        index->rows = *rows;
        if (rows->count) {
            index->first = rows->rows[0].at / PAGE;
            index->pages =
                rows->rows[rows->count - 1].at / PAGE - index->first + 1;
        }
        index->start =
            Heap_zeroed((size_t)index->pages + 1, sizeof *index->start);
    }
    if (!index || !index->start) {
        Heap_free(rows->rows);
        Heap_free(index);
        return NULL;
    }
    for (uint32_t page = 0; page < index->pages; page++) {
        while (at < rows->count &&
               rows->rows[at].at / PAGE < index->first + page)
            at++;
        index->start[page] = (uint32_t)at;
    }
    index->start[index->pages] = (uint32_t)rows->count;
    return index;
}

void NativeIndex_free(struct NativeIndex *index)
{
    if (!index)
        return;
    Heap_free(index->rows.rows);
    Heap_free(index->start);
    Heap_free(index);
}

const struct NativeRow *NativeIndex_find(const struct NativeIndex *index,
                                         uintptr_t at)
{
    uintptr_t page = at / PAGE - index->first;
    size_t low;

    if (at / PAGE < index->first || !index->rows.count)
        return NULL;
    // The last row describes the addresses up to the segment's end.
    if (page >= index->pages)
        return &index->rows.rows[index->rows.count - 1];
    low = index->start[page];
    low += ARRAY_BOUND(index->start[page + 1] - low,
                       index->rows.rows[low + middle].at <= at);
    return low ? &index->rows.rows[low - 1] : NULL;
}

const struct NativeModule *NativeTable_find(const struct NativeTable *table,
                                            uintptr_t pc)
{
    size_t low = ARRAY_BOUND(table->count, table->modules[middle].from <= pc);

    return low && pc < table->modules[low - 1].to ? &table->modules[low - 1]
                                                  : NULL;
}

// --- The walk ----------------------------------------------------------------

// The part of the stack that a walk may read.
struct Stack {
    uintptr_t low, high; // From the innermost frame, NATIVE_STACK bytes.
    uintptr_t readable;  // End of the pages that are known to be readable.
};

// AddressSanitizer must not report that the walk reads other functions' frames.
__attribute__((no_sanitize_address)) static bool
read_word(struct Stack *stack, uintptr_t at, uintptr_t *word)
{
    if (at % sizeof *word || at < stack->low || at >= stack->high)
        return false;
    for (; stack->readable <= at; stack->readable += PAGE)
        if (!Memory_is_readable(stack->readable))
            return false;
    *word = *(const uintptr_t *)at;
    return true;
}

// Computes the CFA (the caller's stack pointer) of the function by its row.
// Returns false if the CFA is unknown or impossible.
static bool find_cfa(const struct NativeRow *row, const struct NativeWalk *walk,
                     struct Stack *stack, uintptr_t *cfa)
{
    switch (row->rule) {
    case NATIVE_BY_RSP:
        *cfa = walk->sp + (uintptr_t)(intptr_t)row->cfa;
        break;
    case NATIVE_BY_RBP:
        *cfa = walk->bp + (uintptr_t)(intptr_t)row->cfa;
        break;
    case NATIVE_BY_PLT:
        // An entry of the procedure linkage table pushes a word before its last
        // jump.
        *cfa = walk->sp + 8 + (walk->pc % 16 >= 11 ? 8 : 0);
        break;
    case NATIVE_BY_WORD:
        if (!read_word(stack, walk->bp + (uintptr_t)(intptr_t)row->cfa, cfa))
            return false;
        break;
    default:
        return false;
    }
    return *cfa > walk->sp;
}

// Goes from a function to its caller. Returns false if the caller is unknown.
static bool step(const struct NativeRow *row, struct NativeWalk *walk,
                 struct Stack *stack)
{
    uintptr_t cfa, base;

    if (!find_cfa(row, walk, stack, &cfa))
        return false;
    base = row->flags & NATIVE_RBP_BY_RBP ? walk->bp : cfa;
    if (!read_word(stack, cfa - sizeof cfa, &walk->pc))
        return false;
    if (row->rbp != NATIVE_SAME &&
        !read_word(stack, base + (uintptr_t)(intptr_t)row->rbp, &walk->bp))
        return false;
    walk->sp = cfa;
    return true;
}

// Finds the row of the function at the address `at`. Returns NULL if the walk
// ends there, and sets walk->end.
static const struct NativeRow *visit(const struct NativeTable *table,
                                     struct NativeWalk *walk, uintptr_t at)
{
    const struct NativeModule *module = NativeTable_find(table, at);
    // This load pairs with the release store of the sampler's thread.
    const struct NativeIndex *index =
        module
            ? atomic_load_explicit(&module->binary->index, memory_order_acquire)
            : NULL;
    const struct NativeRow *row =
        index ? NativeIndex_find(index, NativeModule_at(module, index, at))
              : NULL;

    if (row && row->flags & NATIVE_EVAL) {
        walk->end = NATIVE_WHOLE;
        return NULL;
    }
    if (row && row->flags & NATIVE_FOLDED)
        return row;
    if (walk->depth == NATIVE_DEPTH)
        return NULL;
    walk->pcs[walk->depth++] = at;
    if (!index)
        walk->end = NATIVE_STRANGE;
    else if (row && row->rule == NATIVE_OUTERMOST)
        walk->end = NATIVE_THREAD;
    return walk->end == NATIVE_CUT ? row : NULL;
}

void NativeTable_walk(const struct NativeTable *table, struct NativeWalk *walk)
{
    uintptr_t low = walk->sp - RED_ZONE;
    struct Stack stack = {low, low + NATIVE_STACK,
                          low & ~(uintptr_t)(PAGE - 1)};
    const struct NativeRow *row;
    uintptr_t at = walk->pc;

    walk->depth = 0;
    walk->end = NATIVE_CUT;
    while ((row = visit(table, walk, at)) && step(row, walk, &stack))
        at = walk->pc - 1;
}
