// SPDX-License-Identifier: MIT
// Writes a file for Python's pstats, which is a marshalled dictionary like the
// one of cProfile.
//   {(file, line, name): (calls, calls, own s, s with callees,
//                         {caller's key: the same four})}
// The seconds in the file are sampled CPU time, and the calls are counted or
// estimated. The file is in version 2 of the format of marshal
// (Python/marshal.c in CPython).
#include "formats/pstats.h"
#include "ipc/base/heap.h"
#include "tracer/base/harmless.h"

#include <errno.h>
#include <math.h>

#define TEXT 4096

// The cost of a function in ns, or the part of the cost that is due to one
// caller.
struct Cost {
    uint32_t caller;
    double self, total;
};

// --- Marshal -----------------------------------------------------------------

static void put_text(struct Bytes *out, const char *text)
{
    char clean[TEXT];

    Harmless_clean(clean, sizeof clean, text, false);
    Bytes_put_u8(out, 'u');
    Bytes_put_text(out, clean);
}

// Writes an integer in the format of marshal. An integer of more than 31 bits
// is written as digits of 15 bits, lowest digit first.
static void put_int(struct Bytes *out, uint64_t value)
{
    uint32_t count = 0;
    uint64_t left;

    if (value <= INT32_MAX) {
        Bytes_put_u8(out, 'i');
        Bytes_put_u32(out, (uint32_t)value);
        return;
    }
    for (left = value; left; left >>= 15)
        count++;
    Bytes_put_u8(out, 'l');
    Bytes_put_u32(out, count);
    for (left = value; left; left >>= 15)
        Bytes_put_u16(out, left & 0x7fff);
}

static void put_real(struct Bytes *out, double value)
{
    Bytes_put_u8(out, 'g');
    Bytes_put_f64(out, value);
}

static void begin_tuple(struct Bytes *out, uint32_t size)
{
    Bytes_put_u8(out, '(');
    Bytes_put_u32(out, size);
}

// --- The dictionary ----------------------------------------------------------

static void put_key(struct Bytes *out, const struct ProfileFunction *function)
{
    begin_tuple(out, 3);
    put_text(out, *function->file ? function->file : "~");
    put_int(out, function->line);
    put_text(out, function->name);
}

// Writes the numbers of a struct Cost. The written number of calls is at least
// 1, because pstats divides by it.
static void put_cost(struct Bytes *out, double calls, double self, double total)
{
    // 1 if `calls` is NaN.
    uint64_t whole = calls >= 1 ? (uint64_t)(calls + 0.5) : 1;

    put_int(out, whole);
    put_int(out, whole);
    put_real(out, self / 1e9);
    put_real(out, total / 1e9);
}

// Adds the time of each row to totals[] of the row and of all its callers'
// rows.
static void sum_up(const struct Profile *profile, double *totals)
{
    size_t i;

    for (i = profile->row_count; i-- > 0;) {
        totals[i] += (double)profile->rows[i].ns;
        if (i)
            totals[profile->rows[i].parent] += totals[i];
    }
}

// Sorts the indices of all rows by the rows' function. The rows of function n
// are order[ends[n - 1]] up to order[ends[n] - 1].
static void group(const struct Profile *profile, uint32_t *order,
                  uint32_t *ends)
{
    size_t i;

    for (i = 0; i < profile->row_count; i++)
        ends[profile->rows[i].function]++;
    for (i = 1; i < profile->function_count; i++)
        ends[i] += ends[i - 1];
    for (i = profile->row_count; i-- > 0;)
        order[--ends[profile->rows[i].function]] = (uint32_t)i;
    // Now ends[n] is the index at which the rows of function n begin. The rows
    // of function n - 1 end at this index.
    for (i = 1; i < profile->function_count; i++)
        ends[i - 1] = ends[i];
    ends[profile->function_count - 1] = (uint32_t)profile->row_count;
}

// Returns true if a direct or indirect caller is a row of the same function.
// The total time of a caller's row already contains the time of a row of the
// same function below it.
static bool is_nested(const struct Profile *profile, size_t row)
{
    uint32_t mine = profile->rows[row].function;

    while (row) {
        row = (size_t)profile->rows[row].parent;
        if (row && profile->rows[row].function == mine)
            return true;
    }
    return false;
}

static struct Cost *cost_of(struct Cost *costs, size_t *count, uint32_t caller)
{
    size_t i = 0;

    while (i < *count && costs[i].caller != caller)
        i++;
    if (i == *count)
        costs[(*count)++] = (struct Cost){.caller = caller};
    return &costs[i];
}

// Computes the cost of a function from the rows of the function. Stores the
// cost that each caller caused in `costs`. Returns the whole cost of the
// function.
static struct Cost sum_of(const struct Profile *profile, const double *totals,
                          const uint32_t *rows, size_t row_count,
                          struct Cost *costs, size_t *count)
{
    struct Cost all = {0};
    size_t i;

    *count = 0;
    for (i = 0; i < row_count; i++) {
        uint32_t row = rows[i], parent = profile->rows[row].parent;
        double self = (double)profile->rows[row].ns;
        double total = is_nested(profile, row) ? 0 : totals[row];
        struct Cost *by;

        all.self += self;
        // The root's total time is only its own time.
        all.total += row ? total : self;
        if (!parent)
            continue;
        by = cost_of(costs, count, profile->rows[parent].function);
        by->self += self;
        by->total += total;
    }
    return all;
}

static void put_function(const struct Profile *profile, uint32_t number,
                         struct Cost all, const struct Cost *costs,
                         size_t count, struct Bytes *out)
{
    const struct ProfileFunction *function = &profile->functions[number];
    size_t i;

    put_key(out, function);
    begin_tuple(out, 5);
    put_cost(out, function->calls, all.self, all.total);
    Bytes_put_u8(out, '{');
    for (i = 0; i < count; i++) {
        put_key(out, &profile->functions[costs[i].caller]);
        begin_tuple(out, 4);
        put_cost(out,
                 all.total > 0 ? function->calls * costs[i].total / all.total
                               : NAN,
                 costs[i].self, costs[i].total);
    }
    Bytes_put_u8(out, '0');
}

struct Sums {
    double *totals;     // Total time of each row in ns.
    struct Cost *costs; // Costs of one function, one entry for each caller.
    uint32_t *order, *ends;
};

static void put_functions(const struct Profile *profile, struct Sums *sums,
                          struct Bytes *out)
{
    uint32_t number, begin = 0;

    sum_up(profile, sums->totals);
    group(profile, sums->order, sums->ends);
    for (number = 0; number < profile->function_count; number++) {
        size_t count;
        struct Cost all =
            sum_of(profile, sums->totals, sums->order + begin,
                   sums->ends[number] - begin, sums->costs, &count);

        begin = sums->ends[number];
        if (all.total > 0 || all.self > 0)
            put_function(profile, number, all, sums->costs, count, out);
    }
}

void Pstats_write(const struct Profile *profile, struct Bytes *out)
{
    size_t rows = profile->row_count + 1;
    struct Sums sums = {
        .totals = Heap_zeroed(rows, sizeof *sums.totals),
        .costs = Heap_zeroed(rows, sizeof *sums.costs),
        .order = Heap_zeroed(rows, sizeof *sums.order),
        .ends = Heap_zeroed(profile->function_count, sizeof *sums.ends),
    };

    Bytes_put_u8(out, '{');
    if (sums.totals && sums.costs && sums.order && sums.ends)
        put_functions(profile, &sums, out);
    else
        out->error = -ENOMEM;
    Bytes_put_u8(out, '0');
    Heap_free(sums.totals);
    Heap_free(sums.costs);
    Heap_free(sums.order);
    Heap_free(sums.ends);
}
