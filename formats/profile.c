// SPDX-License-Identifier: MIT
#include "formats/profile.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Number of the extra functions, which the table of stacks does not have.
#define OTHERS 3
// A fraction of a function's time that is below LEAST is taken for a rounding
// error.
#define LEAST 0.01

static int by_id(const void *key, const void *element)
{
    uint64_t id = *(const uint64_t *)key;
    uint64_t other = ((const struct FlameFunction *)element)->id;

    return (id > other) - (id < other);
}

// Returns the index of the function of a row in the table. If the row has no
// function, returns the index of the first or the second extra function.
static size_t find_function(const struct FlameTable *table, size_t row)
{
    uint64_t id = table->rows[row].id;
    const struct FlameFunction *found = NULL;

    if (id != NULL_U64 && table->function_count)
        found = bsearch(&id, table->functions, table->function_count,
                        sizeof *found, by_id);
    if (found)
        return (size_t)(found - table->functions);
    return table->function_count + (row == 0);
}

static struct ProfileFunction named(const struct FlameFunction *function)
{
    return (struct ProfileFunction){
        .name = function->name ? function->name : "<gone>",
        .file = function->file ? function->file : "",
        .line = function->line == NULL_U64 ? 0 : function->line,
        .calls = NAN,
        .self_ns = NAN,
    };
}

int Profile_init(struct Profile *profile, const struct FlameTable *table)
{
    static const char *const others[] = {"<deeper stacks>", "<untraced>",
                                         "<small callees>"};
    size_t known = table->function_count, i;

    *profile = (struct Profile){.function_count = known + OTHERS,
                                .row_count = table->row_count,
                                .waits = table->waits,
                                .wait_count = table->wait_count,
                                .samples = table->samples};
    profile->command = "";
    profile->functions =
        Heap_zeroed(profile->function_count, sizeof *profile->functions);
    profile->rows =
        Heap_zeroed(2 * table->row_count + 1, sizeof *profile->rows);
    if (!profile->functions || !profile->rows) {
        Profile_release(profile);
        return -ENOMEM;
    }
    for (i = 0; i < known; i++)
        profile->functions[i] = named(&table->functions[i]);
    for (i = 0; i < OTHERS; i++)
        profile->functions[known + i] =
            (struct ProfileFunction){others[i], "", 0, NAN, NAN};
    for (i = 0; i < table->row_count; i++)
        profile->rows[i] = (struct ProfileRow){
            .parent = i ? (uint32_t)table->rows[i].parent : 0,
            .function = (uint32_t)find_function(table, i),
            .ns = table->rows[i].cpu_ns,
        };
    return 0;
}

// Compares functions by name, file and line.
static int by_place(const void *a, const void *b)
{
    const struct ProfileFunction *one = *(struct ProfileFunction *const *)a;
    const struct ProfileFunction *other = *(struct ProfileFunction *const *)b;
    int order = strcmp(one->name, other->name);

    if (!order)
        order = strcmp(one->file, other->file);
    if (!order)
        order = (one->line > other->line) - (one->line < other->line);
    return order;
}

// Adds `from` to *to. NaN means unknown. If one number is unknown, the sum is
// the other number.
static void add(double *to, double from)
{
    if (isnan(*to))
        *to = from;
    else if (!isnan(from))
        *to += from;
}

// Merges the functions with the same name, file and line into the function with
// the lowest index.
static void merge(struct Profile *profile, struct ProfileFunction **sorted,
                  uint32_t *firsts)
{
    size_t i, begin, k;

    for (begin = 0; begin < profile->function_count; begin = i) {
        struct ProfileFunction *first = sorted[begin];

        for (i = begin; i < profile->function_count &&
                        !by_place(&sorted[i], &sorted[begin]);
             i++)
            if (sorted[i] < first)
                first = sorted[i];
        for (k = begin; k < i; k++) {
            firsts[sorted[k] - profile->functions] =
                (uint32_t)(first - profile->functions);
            if (sorted[k] == first)
                continue;
            add(&first->calls, sorted[k]->calls);
            add(&first->self_ns, sorted[k]->self_ns);
        }
    }
}

void Profile_merge(struct Profile *profile)
{
    size_t count = profile->function_count, i;
    struct ProfileFunction **sorted = Heap_zeroed(count, sizeof(*sorted));
    uint32_t *firsts = Heap_zeroed(count, sizeof *firsts);

    if (sorted && firsts) { // If memory is out, the functions are not merged.
        for (i = 0; i < count; i++)
            sorted[i] = &profile->functions[i];
        qsort(sorted, count, sizeof(*sorted), by_place);
        merge(profile, sorted, firsts);
        for (i = 0; i < profile->row_count; i++)
            profile->rows[i].function = firsts[profile->rows[i].function];
    }
    Heap_free(sorted);
    Heap_free(firsts);
}

void Profile_divide(struct Profile *profile)
{
    double *sums = Heap_zeroed(profile->function_count, sizeof *sums);
    size_t count = profile->row_count, i;

    if (!sums) // If memory is out, the time stays with the callers.
        return;
    for (i = 0; i < count; i++)
        sums[profile->rows[i].function] += (double)profile->rows[i].ns;
    for (i = 1; i < count; i++) {
        struct ProfileRow *row = &profile->rows[i];
        double own = profile->functions[row->function].self_ns;
        // The part is NaN if the function's own time is unknown.
        double part = 1 - own / sums[row->function];
        uint64_t rest = part > LEAST ? (uint64_t)(part * (double)row->ns) : 0;

        if (!rest)
            continue;
        row->ns -= rest;
        profile->rows[profile->row_count++] = (struct ProfileRow){
            .parent = (uint32_t)i,
            .function = (uint32_t)profile->function_count - 1,
            .ns = rest,
        };
    }
    Heap_free(sums);
}

void Profile_release(struct Profile *profile)
{
    Heap_free(profile->functions);
    Heap_free(profile->rows);
    profile->functions = NULL;
    profile->rows = NULL;
}

const char *Profile_wait_name(unsigned kind)
{
    static const char *const names[] = {
        "(waiting: socket)", "(waiting: file)",  "(waiting: lock)",
        "(waiting: sleep)",  "(waiting: GIL)",   "(waiting: CPU)",
        "(waiting: idle)",   "(waiting: other)", "(waiting)"};

    return names[kind < WAIT_UNKNOWN ? kind : WAIT_UNKNOWN];
}

// Only the root's own stack contains the root.
size_t Profile_stack(const struct Profile *profile, size_t row, uint32_t *stack)
{
    size_t depth = 0;

    do {
        stack[depth++] = profile->rows[row].function;
        row = profile->rows[row].parent;
    } while (row && depth < PROFILE_DEPTH);
    return depth;
}
