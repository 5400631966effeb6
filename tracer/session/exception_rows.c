// SPDX-License-Identifier: MIT
#include "tracer/session/exception_rows.h"
#include "tracer/base/rcu.h"
#include "tracer/code/means.h"
#include "tracer/code/registry.h"

#include <math.h>
#include <stdlib.h>

#define WINDOW_S 10.0 // Mean age in seconds of the exceptions in a rate.
// Largest number of attempts to read all kinds of exceptions without a change
// by a hook meanwhile.
#define TRIES 4
// Error of a rate in a gap, as a fraction of the rate. Before the end of the
// first gap no window after a gap has closed. The error is then so large that
// an estimate is not shown if it exceeds the counted exceptions.
#define UNTYPICAL 0.5
#define UNKNOWN 2.0

// The numbers of one kind of exceptions at the time of a snapshot.
struct Reading {
    // Label of the kind of exceptions, or NULL if this entry is free.
    const struct ExceptionLabel *label;
    uint32_t number, line;
    uint64_t counts[EXCEPTION_ACTS], newest;
    // Estimated numbers, and the standard deviation of the exceptions that
    // began.
    double missed[EXCEPTION_ACTS], error;
};

static uint64_t count_of(uint64_t counted, double missed)
{
    return counted + (uint64_t)llround(fmax(missed, 0));
}

static bool is_known(const struct Exceptions *exceptions)
{
    return Counter_get(&exceptions->phase) != EXCEPTIONS_UNKNOWN;
}

// Returns the ns of CPU time for which exceptions were not counted and which
// the estimates do not include yet: those of the open gap, or of the gap before
// the open window.
static double off_ns(const struct Exceptions *exceptions,
                     const struct Moment *at)
{
    int64_t off = (int64_t)(at->cpu_ns - Counter_get(&exceptions->cpu_ns));

    if (Counter_get(&exceptions->phase) != EXCEPTIONS_OFF)
        return Counter_get_double(&exceptions->pending);
    return fmax((double)off, 0);
}

// --- Reading -----------------------------------------------------------------

static void read_kind(const struct Exceptions *exceptions, size_t number,
                      double off, struct Reading *out)
{
    const struct ExceptionKind *kind = &exceptions->kinds[number];
    const struct ExceptionEstimate *of = &exceptions->estimates[number];
    double untypical;

    // This load pairs with the release in set_label (exceptions.c).
    out->label = atomic_load_explicit(&kind->label, memory_order_acquire);
    out->number = (uint32_t)number;
    out->line = atomic_load_explicit(&kind->line, memory_order_relaxed);
    out->newest = Counter_get(&kind->newest);
    for (int act = 0; act < EXCEPTION_ACTS; act++) {
        out->counts[act] = Counter_get(&kind->counts[act]);
        out->missed[act] = Counter_get_double(&of->missed[act]) +
                           off * Counter_get_double(&of->rate[act]);
    }
    // The windows before a gap may be untypical. The window after it will show.
    untypical = Counter_get_double(&of->rate[EXCEPTION_RAISED]) *
                (Counter_get_double(&exceptions->gap_squares) > 0 ? UNTYPICAL
                                                                  : UNKNOWN);
    out->error =
        sum_error(sqrt(Counter_get_double(&of->missed_variance)),
                  off * fmax(Counter_get_double(&of->rate_error), untypical));
}

static void read_kinds(const struct Exceptions *exceptions, size_t count,
                       const struct Moment *at, struct Reading *out)
{
    for (int i = 0; i < TRIES; i++) {
        // This load, and the fence below it, pair with begin_change and
        // end_change.
        uint64_t version =
            atomic_load_explicit(&exceptions->version, memory_order_acquire);
        double off = off_ns(exceptions, at);

        for (size_t k = 0; k < count; k++)
            read_kind(exceptions, k, off, &out[k]);
        atomic_thread_fence(memory_order_acquire);
        if (!(version & 1) && version == Counter_get(&exceptions->version))
            return;
    }
}

// --- Rates -------------------------------------------------------------------

// Updates the sums from which a rate is computed. The exceptions since the last
// snapshot get the weight `part`. The weight of older exceptions is multiplied
// by `kept`. If a kind has lost its entry, its exceptions are part of kind 0
// from then on, and `moved` is their sum.
static void move(struct ExceptionRate *rate, const struct Reading *read,
                 double kept, double part, double moved[EXCEPTION_ACTS])
{
    uint64_t began = read->label ? read->label->began : 0;

    if (read->number && rate->began != began) {
        for (int act = 0; act < EXCEPTION_ACTS; act++)
            moved[act] += rate->counts[act];
        *rate = (struct ExceptionRate){.began = began};
    }
    for (int act = 0; act < EXCEPTION_ACTS; act++) {
        double count = (double)read->counts[act] + read->missed[act];
        // `more` may be negative, because an estimate may become smaller.
        double more =
            count - rate->counts[act] - (read->number ? 0 : moved[act]);

        rate->weighted[act] = rate->weighted[act] * kept + more * part;
        rate->counts[act] = count;
    }
}

static void move_rates(struct ExceptionRates *rates, const struct Reading *read,
                       size_t count, const struct Moment *at)
{
    double last = rates->at_s > 0 ? rates->at_s : at->started;
    double s = fmax(at->now - last, 0), kept = exp(-s / WINDOW_S);
    // The exceptions since the last snapshot are treated as if they were spread
    // evenly over the time since then.
    double all = WINDOW_S * (1 - kept), moved[EXCEPTION_ACTS] = {0};

    rates->all_s = rates->all_s * kept + all;
    rates->at_s = at->now;
    for (size_t i = count; i-- > 0;) // Kind 0 comes last.
        move(&rates->kinds[read[i].number], &read[i], kept, s > 0 ? all / s : 1,
             moved);
}

// --- Rows --------------------------------------------------------------------

static void fill_texts(struct Snapshot *snapshot, struct ExceptionRow *row,
                       const struct ExceptionLabel *label)
{
    row->type = Snapshot_text(snapshot, label ? label->type : "(others)");
    if (!label || !label->function)
        return;
    row->id = label->id;
    row->function = Snapshot_text(snapshot, label->function);
    row->file = Snapshot_text(snapshot, label->file);
}

static void fill_numbers(struct ExceptionRow *row, const struct Reading *read,
                         const struct ExceptionRates *rates,
                         const struct Moment *at)
{
    const struct Exceptions *exceptions = at->exceptions;
    const struct ExceptionRate *rate = &rates->kinds[read->number];

    if (read->line)
        row->line = read->line;
    row->age_s = fmax((double)(int64_t)(at->ticks - read->newest) / at->hz, 0);
    if (read->label)
        row->first_s =
            (double)(int64_t)(read->label->began - at->start_ticks) / at->hz;
    if (!is_known(exceptions))
        return;
    row->raised = count_of(read->counts[EXCEPTION_RAISED],
                           read->missed[EXCEPTION_RAISED]);
    row->passed = count_of(read->counts[EXCEPTION_PASSED],
                           read->missed[EXCEPTION_PASSED]);
    // An estimate with an error of more than 100 % says nothing.
    if (read->error > (double)row->raised) {
        row->raised = read->counts[EXCEPTION_RAISED];
        row->passed = read->counts[EXCEPTION_PASSED];
    } else {
        row->raised_per_s =
            fmax(rate->weighted[EXCEPTION_RAISED], 0) / rates->all_s;
        row->passed_per_s =
            fmax(rate->weighted[EXCEPTION_PASSED], 0) / rates->all_s;
    }
    if (read->error > 0 && row->raised)
        row->error = read->error / (double)row->raised;
}

// Makes the next snapshot fill the rows of functions whose estimated exceptions
// grow without a hit.
static void touch_functions(const struct Reading *read, size_t count,
                            const struct Moment *at)
{
    Rcu_read_lock();
    for (size_t i = 0; i < count; i++) {
        uint32_t id = read[i].label ? read[i].label->id : 0;
        struct Code *code = id ? Registry_by_id(at->registry, id) : NULL;

        if (code && Counter_get(&code->cold.raised_rate))
            Code_touch(code);
    }
    Rcu_read_unlock();
}

static int newest_first(const void *left, const void *right)
{
    const struct ExceptionRow *a = left, *b = right;

    // The row for all other exceptions has no time of a first exception and
    // comes last.
    if (isnan(a->first_s) || isnan(b->first_s))
        return isnan(a->first_s) - isnan(b->first_s);
    return (a->first_s < b->first_s) - (a->first_s > b->first_s);
}

static void fill_sums(struct Snapshot *snapshot,
                      const struct Exceptions *exceptions)
{
    bool missed = Counter_get(&exceptions->missed);

    if (!is_known(exceptions))
        return;
    snapshot->exception_totals_exact = !missed;
    if (!missed)
        snapshot->exception_totals_control = Counter_get(&exceptions->control);
    snapshot->exception_totals_raised = snapshot->exception_totals_passed = 0;
    for (size_t i = 0; i < snapshot->exception_count; i++) {
        snapshot->exception_totals_raised += snapshot->exceptions[i].raised;
        snapshot->exception_totals_passed += snapshot->exceptions[i].passed;
    }
}

void ExceptionRows_fill(struct Snapshot *snapshot, struct ExceptionRates *rates,
                        const struct Moment *at)
{
    const struct Exceptions *exceptions = at->exceptions;
    size_t used = Counter_get(&exceptions->used), count = 0;
    struct Reading *read = Snapshot_alloc(snapshot, (used + 1) * sizeof *read);
    struct ExceptionRow *rows =
        Snapshot_alloc(snapshot, (used + 1) * sizeof *rows);

    if (!read || !rows)
        return;
    read_kinds(exceptions, used, at, read);
    move_rates(rates, read, used, at);
    if (off_ns(exceptions, at) > 0)
        touch_functions(read, used, at);
    for (size_t i = 0; i < used; i++) {
        if (!read[i].label &&
            !(i == 0 && read[i].counts[0] + read[i].counts[1] > 0))
            continue;
        Record_clear(&EXCEPTION_RECORD, &rows[count]);
        fill_numbers(&rows[count], &read[i], rates, at);
        fill_texts(snapshot, &rows[count++], read[i].label);
    }
    qsort(rows, count, sizeof *rows, newest_first);
    snapshot->exceptions = rows;
    snapshot->exception_count = count;
    fill_sums(snapshot, exceptions);
}

uint8_t ExceptionRows_state(const struct Moment *at)
{
    return (uint8_t)(is_known(at->exceptions) |
                     Counter_get(&at->exceptions->missed) << 1);
}

void ExceptionRows_fill_function(struct Function *f, const struct Code *code,
                                 const struct Moment *at)
{
    const struct Exceptions *exceptions = at->exceptions;

    f->raised = f->raised_estimated = NULL_U64;
    if (!is_known(exceptions))
        return;
    f->raised = count_of(Counter_get(&code->cold.raised),
                         Counter_get_double(&code->cold.raised_missed) +
                             off_ns(exceptions, at) *
                                 Counter_get_double(&code->cold.raised_rate));
    f->raised_estimated = Counter_get(&exceptions->missed);
}
