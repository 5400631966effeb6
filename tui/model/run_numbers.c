// SPDX-License-Identifier: MIT
#include "tui/model/run_numbers.h"

#include "ipc/rows.h"
#include "tui/model/row.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The standard error of each number is at least the part ROUGH of the number.
#define ROUGH 0.1
// Least standard errors of a share of a core, and of the lag of an event loop
// in seconds, which is rounded to a millisecond.
#define LEAST_SHARE 0.0025
#define LEAST_LAG_S 0.5e-3
// Two limits for stalls count as equal if they differ by less than SAME_LIMIT_S
// seconds. Limits are rounded to ticks, and the length of a tick differs a
// little between two runs.
#define SAME_LIMIT_S 1e-6
// Latencies of a function are not compared if its P99 is below LEAST_LATENCY_S
// seconds in both runs. The CPU time of a call says more about such short
// calls.
#define LEAST_LATENCY_S 1e-3
// Quantiles are computed from at most NEWEST calls, the newest ones.
#define NEWEST 1000.0
#define LEAST_CALLS 20.0 // Least number of calls for computing a quantile.
// Calls in quick succession take similar times. The variance of a quantile is
// therefore BURST times larger than for independent calls.
#define BURST 4.0
// For a normal distribution, in standard deviations: the distance of the 99th
// percentile from the median, and the standard errors of the median and of the
// 99th percentile for one call.
#define P99 2.326
#define P50_ERROR 1.253
#define P99_ERROR 3.733

static const struct Field FIELDS[] = {
    TEXT(ComparedNumber, what),
    TEXT(ComparedNumber, name),
    TEXT(ComparedNumber, file),
    TEXT(ComparedNumber, unit),
    ROW(FIELD_F64, ComparedNumber, measured.a, NULL, "a"),
    ROW(FIELD_F64, ComparedNumber, measured.b, NULL, "b"),
    ROW(FIELD_F64, ComparedNumber, measured.change, NULL, "change"),
    ROW(FIELD_F64, ComparedNumber, measured.error, NULL, "error"),
    ROW(FIELD_BOOL, ComparedNumber, measured.apart, NULL, "differs"),
};
const struct Record COMPARED_NUMBER_RECORD =
    RECORD(ComparedNumber, "number", FIELDS);

// A number of one run, with its variance.
struct Side {
    double value, variance;
};

struct Work {
    struct Arena *arena;
    struct ComparedNumber *numbers;
    size_t count, room;
    const struct Snapshot *a, *b;
};

// Adds a number that both runs have to the list of compared numbers. `least` is
// the smallest standard error that the number can have.
static void add(struct Work *work, struct ComparedNumber number, struct Side a,
                struct Side b, double least)
{
    struct Measured *measured = &number.measured;
    if (!isfinite(a.value) || !isfinite(b.value) || work->count == work->room)
        return;
    *measured = (struct Measured){
        .a = a.value, .b = b.value, .change = b.value - a.value};
    measured->error = sqrt(a.variance + b.variance + pow(ROUGH * a.value, 2) +
                           pow(ROUGH * b.value, 2) + least * least);
    measured->apart =
        fabs(measured->change) > COMPARISON_LIMIT * measured->error;
    number.name = Arena_text(work->arena, number.name);
    number.file = Arena_text(work->arena, number.file);
    work->numbers[work->count++] = number;
}

// --- Shares and rates of the whole run

static struct Side share_of(double share)
{
    return (struct Side){share, 0};
}

// Returns the rate of events that come at random times. `error` is the relative
// standard deviation of the number of events, or NaN.
static struct Side rate_of(double count, double seconds, double error)
{
    double estimated = isnan(error) ? 0 : error * count;
    return (struct Side){count / seconds, (count + 1 + estimated * estimated) /
                                              seconds / seconds};
}

static void compare_shares(struct Work *work)
{
    const struct Snapshot *a = work->a, *b = work->b;
    add(work, (struct ComparedNumber){.what = "GIL held", .unit = "share"},
        share_of(a->gil_held), share_of(b->gil_held), LEAST_SHARE);
    add(work,
        (struct ComparedNumber){.what = "waits for the GIL", .unit = "share"},
        share_of(a->gil_waited), share_of(b->gil_waited), LEAST_SHARE);
    add(work,
        (struct ComparedNumber){.what = "garbage collection", .unit = "share"},
        share_of(a->gc_share), share_of(b->gc_share), LEAST_SHARE);
}

// Returns the seconds over which those numbers were counted that are in no
// event.
static double counted_s(const struct Snapshot *run)
{
    return isfinite(run->totals_s) ? run->totals_s : run->uptime_s;
}

static struct Side stalls_of(const struct Snapshot *run)
{
    return rate_of(Row_u64(run->stalls_total), counted_s(run) / 60, NAN);
}

// --- Exceptions

// Returns the rate of the exceptions of a type in all functions.
static struct Side exceptions_of(const struct Snapshot *run, const char *type)
{
    double count = 0, squares = 0;
    if (run->exception_totals_raised == NULL_U64)
        return (struct Side){NAN, 0};
    for (size_t i = 0; i < run->exception_count; i++) {
        const struct ExceptionRow *row = &run->exceptions[i];
        if (row->raised == NULL_U64 || !row->type ||
            strcmp(row->type, type) != 0)
            continue;
        count += (double)row->raised;
        if (isfinite(row->error))
            squares += pow(row->error * (double)row->raised, 2);
    }
    return rate_of(count, counted_s(run),
                   count > 0 ? sqrt(squares) / count : NAN);
}

static bool has_type(const struct Snapshot *run, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (run->exceptions[i].type &&
            strcmp(run->exceptions[i].type, type) == 0)
            return true;
    return false;
}

// Compares the types of exceptions of `run`. Types that the run `before` also
// has are left out.
static void compare_exceptions(struct Work *work, const struct Snapshot *run,
                               const struct Snapshot *before)
{
    for (size_t i = 0; i < run->exception_count; i++) {
        const char *type = run->exceptions[i].type;
        if (!type || *type == '(' || has_type(run, i, type) ||
            (before && has_type(before, before->exception_count, type)))
            continue;
        add(work,
            (struct ComparedNumber){
                .what = "exceptions", .name = type, .unit = "per_s"},
            exceptions_of(work->a, type), exceptions_of(work->b, type), 0);
    }
}

// --- Objects

// Returns the growth of a type. A type that has no row does not grow, because
// types that only grow come first.
static struct Side growth_of(const struct Snapshot *run, const char *type)
{
    for (size_t i = 0; i < run->objects_type_count; i++) {
        const struct ObjectRow *row = &run->objects_types[i];
        if (!row->function && strcmp(row->type, type) == 0)
            return (struct Side){row->net_per_s, pow(row->net_error, 2)};
    }
    return (struct Side){run->objects_type_count ? 0 : NAN, 0};
}

// Compares the types that only grow in `run`, but not in the run `before`.
static void compare_objects(struct Work *work, const struct Snapshot *run,
                            const struct Snapshot *before)
{
    for (size_t i = 0; i < run->objects_type_count; i++) {
        const struct ObjectRow *row = &run->objects_types[i];
        bool known = false;
        for (size_t k = 0; before && k < before->objects_type_count; k++)
            known |= before->objects_types[k].grows == 1 &&
                     strcmp(before->objects_types[k].type, row->type) == 0;
        if (row->grows == 1 && !known)
            add(work,
                (struct ComparedNumber){.what = "growth of objects",
                                        .name = row->type,
                                        .unit = "per_s"},
                growth_of(work->a, row->type), growth_of(work->b, row->type),
                0);
    }
}

// --- Event loops

// The standard deviation of the lag of one timer is about as large as the mean
// lag.
static struct Side lag_of(const struct LoopRow *loop)
{
    bool known = loop->timers != NULL_U64 && loop->timers > 0;
    double lag = known ? loop->lag_s : NAN;
    return (struct Side){lag, known ? lag * lag / (double)loop->timers : 0};
}

static void compare_loops(struct Work *work)
{
    for (size_t i = 0; i < work->a->loop_count; i++)
        for (size_t k = 0; k < work->b->loop_count; k++) {
            const struct LoopRow *a = &work->a->loops[i];
            const struct LoopRow *b = &work->b->loops[k];
            if (!a->thread || !b->thread || strcmp(a->thread, b->thread) != 0)
                continue;
            add(work,
                (struct ComparedNumber){.what = "lag of the event loop",
                                        .name = a->thread,
                                        .unit = "s"},
                lag_of(a), lag_of(b), LEAST_LAG_S);
            break;
        }
}

// --- Latencies

// Returns a quantile. The logarithms of latencies are assumed to have a normal
// distribution, and its width follows from P50 and P99.
static struct Side quantile_of(const struct Function *f, bool p99)
{
    double value = p99 ? f->wall_p99_s : f->wall_p50_s, width = 1, error;
    double calls = f->calls == NULL_U64 ? 0 : fmin((double)f->calls, NEWEST);
    if (calls < LEAST_CALLS)
        return (struct Side){NAN, 0};
    if (f->wall_p99_s > f->wall_p50_s && f->wall_p50_s > 0)
        width = log(f->wall_p99_s / f->wall_p50_s) / P99;
    error = value * width * (p99 ? P99_ERROR : P50_ERROR);
    return (struct Side){value, BURST * error * error / calls};
}

static bool is_long(const struct Function *f)
{
    return (isfinite(f->wall_p99_s) ? f->wall_p99_s : f->wall_p50_s) >=
           LEAST_LATENCY_S;
}

static void compare_latencies(struct Work *work, const struct Function *a,
                              const struct Function *b)
{
    size_t first = work->count;
    if (!isfinite(a->wall_p50_s) || !isfinite(b->wall_p50_s) ||
        (!is_long(a) && !is_long(b)))
        return;
    for (int p99 = 1; p99 >= 0; p99--)
        add(work,
            (struct ComparedNumber){.what = p99 ? "P99" : "P50",
                                    .name = a->name,
                                    .file = a->file,
                                    .unit = "s"},
            quantile_of(a, p99), quantile_of(b, p99), 0);
    // If a function has two typical durations, it depends on chance which of
    // them is the P50.
    if (work->count == first + 2 && !work->numbers[first].measured.apart &&
        a->wall_p50_s <= b->wall_p99_s && b->wall_p50_s <= a->wall_p99_s)
        work->numbers[first + 1].measured.apart = false;
}

// --- The whole

static double factor_of(const struct ComparedNumber *number)
{
    const struct Measured *m = &number->measured;
    return fabs(m->change) / fmax(m->error, 1e-12);
}

static int by_factor(const void *a, const void *b)
{
    const struct ComparedNumber *left = a, *right = b;
    double one = factor_of(left), other = factor_of(right);
    if (left->measured.apart != right->measured.apart)
        return left->measured.apart ? -1 : 1;
    return (one < other) - (one > other);
}

const struct ComparedNumber *
RunNumbers_compare(struct Arena *arena, const struct Snapshot *a,
                   const struct Snapshot *b, const struct SameFunction *same,
                   size_t same_count, bool rates, size_t *count)
{
    size_t room = 4 + a->loop_count + a->exception_count + b->exception_count +
                  a->objects_type_count + b->objects_type_count +
                  2 * same_count;
    struct Work work = {.arena = arena, .room = room, .a = a, .b = b};
    work.numbers = Arena_alloc(arena, room * sizeof *work.numbers);
    *count = 0;
    if (!work.numbers)
        return NULL;
    compare_shares(&work);
    compare_loops(&work);
    if (rates) {
        // Stalls are compared only if their limit is known and the same in both
        // runs.
        if (fabs(a->stall_limit_s - b->stall_limit_s) < SAME_LIMIT_S)
            add(&work,
                (struct ComparedNumber){.what = "stalls", .unit = "per_min"},
                stalls_of(a), stalls_of(b), 0);
        compare_exceptions(&work, a, NULL);
        compare_exceptions(&work, b, a);
        compare_objects(&work, a, NULL);
        compare_objects(&work, b, a);
    }
    for (size_t i = 0; i < same_count; i++)
        compare_latencies(&work, same[i].a, same[i].b);
    qsort(work.numbers, work.count, sizeof *work.numbers, by_factor);
    *count = work.count;
    return work.numbers;
}

// Writes a number in its unit.
static const char *write(char out[NUMBER_MAX + 8], const char *unit,
                         double value)
{
    char number[NUMBER_MAX];
    if (strcmp(unit, "s") == 0)
        snprintf(out, NUMBER_MAX + 8, "%s", Number_ns(number, 1e9 * value));
    else if (strcmp(unit, "share") == 0)
        snprintf(out, NUMBER_MAX + 8, "%.1f%%", 100 * value);
    else
        snprintf(out, NUMBER_MAX + 8, "%.3g", value);
    return out;
}

void RunNumbers_text(const struct ComparedNumber *number, char *line,
                     size_t size)
{
    const struct Measured *m = &number->measured;
    const char *unit = number->unit;
    char clean[300], a[NUMBER_MAX + 8], b[NUMBER_MAX + 8],
        error[NUMBER_MAX + 8];
    Text_clean(clean, sizeof clean, number->name ? number->name : "");
    snprintf(line, size, "%s%s%s: %s and then %s%s (two standard errors: %s)",
             number->what,
             !*clean                      ? ""
             : strcmp(unit, "per_s") == 0 ? " of type "
             : strcmp(number->what, "P50") == 0 ||
                     strcmp(number->what, "P99") == 0
                 ? " of "
                 : " in ",
             clean, write(a, unit, m->a), write(b, unit, m->b),
             strcmp(unit, "share") == 0     ? " of a core"
             : strcmp(unit, "per_s") == 0   ? " a second"
             : strcmp(unit, "per_min") == 0 ? " a minute"
                                            : "",
             write(error, unit, COMPARISON_LIMIT * m->error));
}
