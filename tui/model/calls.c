// SPDX-License-Identifier: MIT
#include "tui/model/calls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

// Returns true if the function of a row is not also one of its callers. Checks
// at most FLAME_DEPTH callers.
static bool is_outermost(const struct FlameTable *table, size_t row)
{
    uint64_t id = table->rows[row].id;
    for (int depth = 0; depth < FLAME_DEPTH; depth++) {
        row = (size_t)table->rows[row].parent;
        if (!row)
            break;
        if (table->rows[row].id == id)
            return false;
    }
    return true;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_calls(const void *left, const void *right)
{
    const struct Call *a = left, *b = right;
    int callees = compare(a->callee, b->callee);
    return callees ? callees : compare(a->caller, b->caller);
}

static int compare_functions(const void *left, const void *right)
{
    const struct CallTotal *a = left, *b = right;
    return compare(a->id, b->id);
}

// Merges entries with the same caller and callee, and entries of the same
// function, and adds up their shares.
static void merge(struct Calls *calls)
{
    size_t kept = 0;
    qsort(calls->calls, calls->count, sizeof *calls->calls, compare_calls);
    for (size_t i = 0; i < calls->count; i++)
        if (kept && !compare_calls(&calls->calls[kept - 1], &calls->calls[i]))
            calls->calls[kept - 1].share += calls->calls[i].share;
        else
            calls->calls[kept++] = calls->calls[i];
    calls->count = kept;
    kept = 0;
    qsort(calls->functions, calls->function_count, sizeof *calls->functions,
          compare_functions);
    for (size_t i = 0; i < calls->function_count; i++) {
        const struct CallTotal *function = &calls->functions[i];
        if (!kept || calls->functions[kept - 1].id != function->id) {
            calls->functions[kept++] = *function;
            continue;
        }
        calls->functions[kept - 1].total += function->total;
        calls->functions[kept - 1].self += function->self;
        calls->functions[kept - 1].waits += function->waits;
    }
    calls->function_count = kept;
}

// The state while the calls in a table are counted.
struct Count {
    const struct FlameTable *table;
    const struct FlameShare *shares; // NULL = the table's own shares.
    enum FlameMode mode;
    size_t rows;
    struct Calls calls;
    double *totals;  // For each row, its time including callees.
    double *waits;   // For each row, its own waits.
    double *natives; // For each row, the time of C functions below it.
};

static double self_of(const struct Count *count, size_t row)
{
    double self =
        count->shares ? count->shares[row].self : count->table->rows[row].share;
    return count->mode != FLAME_WAITS && self > 0 ? self : 0;
}

// Counts each wait as a callee of the function that waits.
static void add_waits(struct Count *count)
{
    const struct FlameTable *table = count->table;
    for (size_t i = 0; i < FlameTree_waits(table); i++) {
        const struct FlameWait *wait = &table->waits[i];
        size_t row = FlameTree_row_of(table, wait);
        double share =
            count->shares ? count->shares[count->rows + i].self : wait->share;
        if (!(share > 0))
            continue;
        count->waits[row] += share;
        count->totals[row] += share;
        if (table->rows[row].id != NULL_U64)
            count->calls.calls[count->calls.count++] =
                (struct Call){FLAME_WAIT_ID + WaitKind_of(wait->kind),
                              table->rows[row].id, share};
    }
}

static void add_rows(struct Count *count)
{
    const struct FlameTable *table = count->table;
    struct Calls *calls = &count->calls;
    double *totals = count->totals;
    // The rows of callees come after the rows of their callers.
    for (size_t i = count->rows; i-- > 1;) {
        const struct FlameRow *row = &table->rows[i];
        double self = self_of(count, i);
        totals[i] += self;
        totals[row->parent] += totals[i];
        self += count->natives[i];
        // The time of C functions belongs to the Python function itself.
        if (FlameNative_is(row->id)) {
            count->natives[row->parent] += self;
            continue;
        }
        if (row->id == NULL_U64 || !(totals[i] > 0))
            continue;
        bool outermost = is_outermost(table, i);
        calls->functions[calls->function_count++] = (struct CallTotal){
            row->id, outermost ? totals[i] : 0, self, count->waits[i]};
        if (outermost)
            calls->calls[calls->count++] =
                (struct Call){row->id, table->rows[row->parent].id, totals[i]};
    }
}

int Calls_count(struct Calls *calls, const struct FlameTable *table,
                const struct FlameShare *shares, enum FlameMode mode)
{
    size_t rows = FlameTree_rows(table), waits = FlameTree_waits(table);
    struct Count count = {
        .table = table,
        .shares = shares,
        .mode = mode,
        .rows = rows,
        .calls = {.calls = calloc(rows + waits + 1, sizeof(struct Call)),
                  .functions = calloc(rows + 1, sizeof(struct CallTotal))},
        .totals = calloc(rows + 1, sizeof(double)),
        .waits = calloc(rows + 1, sizeof(double)),
        .natives = calloc(rows + 1, sizeof(double))};
    int error = count.calls.calls && count.calls.functions && count.totals &&
                        count.waits && count.natives
                    ? 0
                    : -ENOMEM;
    if (!error && mode != FLAME_CPU)
        add_waits(&count);
    if (!error) {
        add_rows(&count);
        merge(&count.calls);
    }
    free(count.totals);
    free(count.waits);
    free(count.natives);
    Calls_release(error ? &count.calls : calls);
    if (!error)
        *calls = count.calls;
    return error;
}

struct CallTotal Calls_of(const struct Calls *calls, uint64_t id)
{
    const struct CallTotal wanted = {.id = id}, *found = NULL;
    if (calls->function_count)
        found = bsearch(&wanted, calls->functions, calls->function_count,
                        sizeof wanted, compare_functions);
    return found ? *found : wanted;
}

void Calls_release(struct Calls *calls)
{
    free(calls->calls);
    free(calls->functions);
    *calls = (struct Calls){0};
}
