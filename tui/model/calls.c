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

// Merges the entries of the same caller and callee, and the entries of the same
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
    }
    calls->function_count = kept;
}

int Calls_count(struct Calls *calls, const struct FlameTable *table,
                const struct FlameShare *shares, size_t count)
{
    struct Calls new = {.calls = malloc((count + 1) * sizeof *new.calls),
                        .functions =
                            malloc((count + 1) * sizeof *new.functions)};
    double *totals = calloc(count + 1, sizeof *totals);
    if (!new.calls || !new.functions || !totals) {
        free(totals);
        Calls_release(&new);
        return -ENOMEM;
    }
    // The rows of callees come after the rows of their callers.
    for (size_t i = count; i-- > 1;) {
        const struct FlameRow *row = &table->rows[i];
        totals[i] += shares[i].self;
        totals[row->parent] += totals[i];
        if (row->id == NULL_U64 || !(totals[i] > 0))
            continue;
        bool outermost = is_outermost(table, i);
        new.functions[new.function_count++] = (struct CallTotal){
            row->id, outermost ? totals[i] : 0, shares[i].self};
        if (outermost)
            new.calls[new.count++] =
                (struct Call){row->id, table->rows[row->parent].id, totals[i]};
    }
    free(totals);
    merge(&new);
    Calls_release(calls);
    *calls = new;
    return 0;
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
