// SPDX-License-Identifier: MIT
// For a snapshot of the whole run, numbers that are neither in events nor in
// samples are copied from the newest snapshot in the recording. If the newest
// snapshot was written at the end of the program, most numbers of functions are
// copied from it, too. Shares of functions are always computed from the samples
// in the chosen stretch of the run.
#include "formats/summary_snapshot.h"
#include "formats/darkness.h"
#include "formats/summary_lines.h"
#include "ipc/base/heap.h"
#include "ipc/own_file.h"
#include "tracer/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 32768u
// Largest number of callers that a live process sends for a function, and of
// functions that it sends for a thread.
#define PARTS_MOST 12u
// A function is mostly dark if it had no hooks for at least the fraction MOSTLY
// of the chosen stretch of the run. Nearly all sampled calls of such a function
// then ran without hooks. The samples of a mostly dark function show the CPU
// time of a call without the cost of hooks.
#define MOSTLY 0.9
// UNKNOWN_CALLS is the largest relative standard error with which a number of
// calls is shown. UNKNOWN_MEAN is the largest relative standard error with
// which a CPU time of a call is shown.
#define UNKNOWN_CALLS 0.5
#define UNKNOWN_MEAN 0.25
// Shown in place of the name of a function whose name is unknown.
#define RETIRED "<retired>"

struct Maker {
    const struct StretchSums *sums;
    // The newest snapshot of the program. `final` is NULL if the chosen stretch
    // is not the whole run, or if the recording has no snapshot.
    const struct Snapshot *final;
    struct Snapshot *out;
    double length_ns; // Length of the chosen stretch of the run in ns.
    // True if no event of the chosen stretch of the run is missing.
    bool counted;
    // True if the kinds of waits are known, or if the recording has no waits.
    bool kinds;
};

static bool is_all(const struct StretchSums *sums)
{
    return sums->from_s <= sums->all_from_s && sums->to_s >= sums->all_to_s;
}

static const char *text_of(struct Maker *maker, const char *text)
{
    return Snapshot_text(maker->out, text);
}

// --- Largest parts of a CPU time ---------------------------------------------

static int by_ns(const void *a, const void *b)
{
    double left = (*(const struct Sum *const *)a)->ns;
    double right = (*(const struct Sum *const *)b)->ns;

    return (left < right) - (left > right);
}

// Makes a list of the largest parts of a sum of CPU time. The last element of
// the list is the sum of all other parts. Sets *count to the number of elements
// of the list.
static const struct Caller *list_parts(struct Maker *maker,
                                       const struct Sum *parts, size_t *count)
{
    size_t i, kept = 0, all = *count,
              room = all < PARTS_MOST ? all : PARTS_MOST;
    const struct Sum **sorted = Heap_zeroed(all + 1, sizeof *sorted);
    struct Caller *list = Snapshot_alloc(maker->out, (room + 1) * sizeof *list);
    double others = 0;

    *count = 0;
    for (i = 0; sorted && i < all; i++)
        sorted[i] = &parts[i];
    if (sorted && all)
        qsort(sorted, all, sizeof *sorted, by_ns);
    for (i = 0; sorted && list && i < all; i++)
        if (Sum_second(sorted[i]) && kept < room)
            list[kept++] = (struct Caller){Sum_second(sorted[i]),
                                           sorted[i]->ns / maker->length_ns};
        else
            others += sorted[i]->ns;
    Heap_free(sorted);
    if (list && others > 0)
        list[kept++] = (struct Caller){NULL_U64, others / maker->length_ns};
    *count = list ? kept : 0;
    return list;
}

// --- Waits -------------------------------------------------------------------

// Stores a function's share of the time for each kind of wait in `shares`. If
// the function never waited, all shares are 0. If the kinds of its waits are
// unknown, all shares are null. Returns the share of all waits together, or
// null if the recording has no waits.
static double divide_waits(const struct Maker *maker, uint32_t id, bool total,
                           double *shares)
{
    const struct WaitSums *sums = &maker->sums->waits;
    double ns = WaitSums_divide(&sums->functions, id, total, shares);
    bool has = StretchSums_has_waits(maker->sums);
    bool none = has && maker->kinds && ns == 0;
    int i;

    for (i = 0; i < WAIT_KINDS; i++)
        shares[i] = none ? 0 : shares[i] / maker->length_ns;
    return has ? ns / maker->length_ns : NULL_F64;
}

// Sets the function's shares by kinds of waits, as a live process does
// (parts_row.c).
static void fill_parts(struct Maker *maker, struct Function *f,
                       const struct Sum *sum)
{
    struct WaitShares *own = Snapshot_alloc(maker->out, sizeof *own);
    struct PartShares *total = Snapshot_alloc(maker->out, sizeof *total);

    f->wait_count = f->total_part_count = 0;
    f->waits = own;
    f->total_parts = total;
    if (!own || !total)
        return;
    f->wait_share = divide_waits(maker, (uint32_t)f->id, false, own->of);
    f->wait_count = f->wait_share > 0 && !isnan(own->of[0]);
    f->samples += WaitSums_count(&maker->sums->waits, (uint32_t)f->id);
    divide_waits(maker, (uint32_t)f->id, true, total->waits);
    total->c = (sum ? sum->total_c_ns : 0) / maker->length_ns;
    total->gc = (sum ? sum->total_gc_ns : 0) / maker->length_ns;
    f->total_part_count = f->total_share > 0;
}

// --- Functions ---------------------------------------------------------------

static void fill_shares(struct Maker *maker, struct Function *f,
                        const struct Sum *sum)
{
    const struct StretchSums *sums = maker->sums;
    size_t count;
    const struct Sum *callers =
        SumTable_of(&sums->callers, (uint32_t)f->id, &count);

    f->share = f->cpu_share = (sum ? sum->ns : 0) / maker->length_ns;
    f->run_share = f->share;
    f->total_share = (sum ? sum->total_ns : 0) / maker->length_ns;
    f->c_share = (sum ? sum->c_ns : 0) / maker->length_ns;
    f->samples = f->run_samples = sum ? sum->samples : 0;
    f->wait_share = NAN;
    fill_parts(maker, f, sum);
    f->callers = list_parts(maker, callers, &count);
    f->caller_count = count;
}

// Estimates the number of calls of a function that was armed in slices. The
// estimate is the number of counted calls, plus the call rate times the time in
// which the function was dark (had no hooks).
static void estimate_calls(const struct Maker *maker, struct Function *f,
                           const struct Sum *sum)
{
    const struct StretchSums *sums = maker->sums;
    double hz = sums->reader->trace.hz, length = maker->length_ns / 1e9;
    const struct ArmedStretch stretch = {StretchSums_ticks(sums, sums->from_s),
                                         StretchSums_ticks(sums, sums->to_s),
                                         hz};
    struct ArmedRate rate = ArmedSpans_rate(&sums->spans, &sums->reader->dark,
                                            (uint32_t)f->id, &stretch);
    double missed = rate.rate * rate.dark_ticks;
    double error = rate.error * rate.dark_ticks;
    double calls = (double)sum->calls + missed;

    if (!(error <= UNKNOWN_CALLS * calls))
        return;
    f->calls_estimated = calls;
    f->calls_error = error / calls;
    f->calls_per_s = calls / length;
    f->calls_per_s_error = error / length;
    f->rate_estimated = 1;
    if (rate.dark_ticks < MOSTLY * length * hz || !sum->samples ||
        error > UNKNOWN_MEAN * calls)
        return;
    f->avg_cycles = sum->ns / 1e9 * hz / calls;
    f->avg_estimated = 1;
}

// Sets the numbers of calls of `f` from the events in the chosen stretch of the
// run.
static void count_calls(const struct Maker *maker, struct Function *f,
                        const struct Sum *sum, const struct ArmedTime *armed)
{
    bool windows =
        OwnFile_is_c(f->file) && maker->sums->reader->trace.threshold;

    // If there is a threshold, calls of C functions are counted only in windows
    // (tracer/code/c_calls.h).
    f->calls_exact =
        maker->counted && !armed->was_dark && !armed->rearmed && !windows;
    f->resumptions = sum->resumed;
    f->calls = sum->calls + sum->resumed > 0 ? sum->calls : NULL_U64;
    if (f->calls == NULL_U64)
        return;
    if (!f->calls_exact) {
        if (maker->counted && armed->rearmed)
            estimate_calls(maker, f, sum);
        return;
    }
    f->calls_estimated = (double)f->calls;
    f->calls_per_s = f->calls_estimated / (maker->length_ns / 1e9);
    f->rate_estimated = 0;
}

static uint64_t state_of(const struct ArmedTime *armed, const struct Sum *sum)
{
    if (armed->was_dark && !armed->is_dark)
        return STATE_PARTIAL;
    if (armed->is_dark)
        return sum->calls ? STATE_PARTIAL : STATE_DARK;
    // A function without events may never have been armed. Another possibility
    // is that one of its calls has run since before the chosen stretch of the
    // run.
    return sum->calls || sum->resumed ? STATE_ARMED : NULL_U64;
}

// Fills in the row of a function from the events and the samples in the chosen
// stretch of the run.
static void fill_function(struct Maker *maker, struct Function *f,
                          const struct Sum *sum)
{
    const struct StretchSums *sums = maker->sums;
    uint32_t id = Sum_first(sum);
    struct ArmedTime armed =
        Darkness_between(&sums->reader->dark, id, sums->from, sums->to);
    struct PerfettoName name = {0};

    StretchSums_name(sums, id, &name);
    Record_clear(&FUNCTION_RECORD, f);
    f->id = id;
    f->name = text_of(maker, name.name ? name.name : RETIRED);
    f->file = text_of(maker, name.file);
    f->line = name.line ? name.line : NULL_U64;
    f->state = state_of(&armed, sum);
    if (sum->what)
        f->age_s = fmax(sums->to_s - StretchSums_s(sums, sum->what), 0);
    count_calls(maker, f, sum, &armed);
    fill_shares(maker, f, sum);
}

// Copies the row of a function from the final snapshot. The shares are computed
// again, because the shares in the final snapshot cover only the last minute of
// the run. `sum` is NULL if the function has no events and no samples.
static void take_function(struct Maker *maker, struct Function *f,
                          const struct Function *last, const struct Sum *sum)
{
    double uptime = maker->final->uptime_s;
    double calls =
        last->calls_exact == 1 ? (double)last->calls : last->calls_estimated;

    *f = *last;
    f->name = text_of(maker, last->name);
    f->file = text_of(maker, last->file);
    f->calls_per_s = calls / uptime;
    f->rate_estimated = last->calls_exact != 1;
    f->calls_per_s_error = NAN;
    if (f->rate_estimated == 1)
        f->calls_per_s_error = last->calls_error * f->calls_per_s;
    f->gil_blocked_share = last->gil_blocked_s / uptime;
    fill_shares(maker, f, sum);
}

static int by_share(const void *a, const void *b)
{
    const struct Function *left = a, *right = b;

    if (left->share != right->share)
        return left->share < right->share ? 1 : -1;
    return left->id < right->id ? -1 : left->id > right->id;
}

// Copies the numbers of a function that are in no event and in no sample. Only
// numbers that are in no event and in no sample are copied, because the newest
// snapshot of a killed program is some seconds old. All other numbers come from
// the events.
static void add_totals(struct Maker *maker, struct Function *f,
                       const struct Function *last)
{
    if (strcmp(f->name ? f->name : "", RETIRED) == 0) {
        f->name = text_of(maker, last->name);
        f->file = text_of(maker, last->file);
        f->line = last->line;
    }
    f->wall_p50_s = last->wall_p50_s;
    f->wall_p99_s = last->wall_p99_s;
    f->wall_max_s = last->wall_max_s;
    f->in_flight = last->in_flight;
    f->oldest_s = last->oldest_s;
    f->in_flight_is_least = last->in_flight_is_least;
    f->await_s = last->await_s;
    f->gil_blocked_s = last->gil_blocked_s;
    f->gil_blocked_share = last->gil_blocked_s / maker->final->uptime_s;
}

// Returns the row of a function that has events or samples, or NULL. The rows
// are in the same order as the sums.
static struct Function *row_of(const struct Maker *maker, struct Function *rows,
                               uint64_t id)
{
    const struct SumTable *sums = &maker->sums->functions;
    size_t found;
    const struct Sum *sum = SumTable_of(sums, (uint32_t)id, &found);

    return found ? &rows[sum - sums->sums] : NULL;
}

// Sets the number of exceptions in each function's row. In the snapshot's list
// of exceptions, a row without a function is the sum of all rows that are not
// listed.
static void add_raised(const struct Maker *maker, struct Function *rows,
                       size_t count)
{
    const struct Snapshot *final = maker->final;
    uint64_t none = final->exception_totals_raised == NULL_U64 ? NULL_U64 : 0;
    struct Function *f;
    size_t i;

    for (i = 0; i < final->exception_count; i++)
        if (final->exceptions[i].id == NULL_U64 && final->exceptions[i].raised)
            none = NULL_U64;
    for (i = 0; i < count; i++)
        rows[i].raised = none;
    for (i = 0; i < final->exception_count; i++) {
        const struct ExceptionRow *row = &final->exceptions[i];

        f = row->id == NULL_U64 ? NULL : row_of(maker, rows, row->id);
        // Functions without events and samples come last in `rows`.
        for (size_t k = maker->sums->functions.count; k < count && !f; k++)
            if (rows[k].id == row->id)
                f = &rows[k];
        if (f && row->raised != NULL_U64)
            f->raised = row->raised + (f->raised == NULL_U64 ? 0 : f->raised);
    }
    for (i = 0; i < count; i++)
        if (rows[i].raised != NULL_U64)
            rows[i].raised_estimated = final->exception_totals_exact != 1;
}

// Lists the functions of a stretch of the run, or of a program that did not end
// regularly. Returns their number.
static size_t list_functions(struct Maker *maker, struct Function *rows)
{
    const struct SumTable *sums = &maker->sums->functions;
    size_t i, count = 0;

    for (; count < sums->count; count++)
        fill_function(maker, &rows[count], &sums->sums[count]);
    for (i = 0; maker->final && i < maker->final->function_count; i++) {
        const struct Function *last = &maker->final->functions[i];
        const struct Sum none = {.key = Sum_key((uint32_t)last->id, 0)};
        struct Function *f = row_of(maker, rows, last->id);

        if (!f) {
            f = &rows[count++];
            fill_function(maker, f, &none);
        }
        add_totals(maker, f, last);
    }
    if (maker->final)
        add_raised(maker, rows, count);
    return count;
}

// First lists the functions in the final snapshot. After these functions, lists
// all functions that have events or samples in the run and are not listed yet.
// Returns their number.
static size_t take_functions(struct Maker *maker, struct Function *rows)
{
    const struct SumTable *sums = &maker->sums->functions;
    bool *listed = Heap_zeroed(sums->count + 1, sizeof *listed);
    size_t i, found, count = 0;

    for (; listed && count < maker->final->function_count; count++) {
        const struct Function *last = &maker->final->functions[count];
        const struct Sum *sum = SumTable_of(sums, (uint32_t)last->id, &found);

        take_function(maker, &rows[count], last, sum);
        if (sum)
            listed[sum - sums->sums] = true;
    }
    for (i = 0; listed && i < sums->count; i++)
        if (!listed[i])
            fill_function(maker, &rows[count++], &sums->sums[i]);
    Heap_free(listed);
    return count;
}

static void fill_functions(struct Maker *maker)
{
    size_t count = 0, room = maker->sums->functions.count + 1;
    struct Function *rows;

    if (maker->final)
        room += maker->final->function_count;
    rows = Snapshot_alloc(maker->out, room * sizeof *rows);
    if (rows)
        count = maker->final && maker->sums->reader->ended
                    ? take_functions(maker, rows)
                    : list_functions(maker, rows);
    if (count)
        qsort(rows, count, sizeof *rows, by_share);
    maker->out->functions_total = count;
    maker->out->functions = rows;
    maker->out->function_count = count < ROWS_MOST ? count : ROWS_MOST;
}

// --- Threads -----------------------------------------------------------------

// Sets the fraction of the time that a thread waited, and the fraction that it
// waited for the GIL.
static void fill_waits_of(const struct Maker *maker, struct Thread *thread)
{
    const struct StretchSums *sums = maker->sums;
    double kinds[WAIT_KINDS];
    double ns = WaitSums_divide(&sums->waits.threads, (uint32_t)thread->tid,
                                false, kinds);

    thread->wait_share = thread->gil_wait_share = thread->gil_wait_s = NAN;
    if (!StretchSums_has_waits(sums))
        return;
    thread->wait_share = fmin(ns / maker->length_ns, 1);
    if (maker->kinds) {
        thread->gil_wait_s = ns > 0 ? kinds[WAITS_GIL] / 1e9 : 0;
        thread->gil_wait_share = thread->gil_wait_s * 1e9 / maker->length_ns;
    }
}

// Copies a thread's times with the GIL and its waits for it from the final
// snapshot.
static void fill_gil_of(const struct Maker *maker, struct Thread *thread)
{
    const struct Snapshot *final = maker->final;
    size_t count = final ? final->thread_count : 0, i = 0;

    thread->gil_held_share = thread->gil_held_s = NAN;
    while (i < count && final->threads[i].tid != thread->tid)
        i++;
    if (i == count)
        return;
    thread->gil_held_s = final->threads[i].gil_held_s;
    thread->gil_wait_s = final->threads[i].gil_wait_s;
    thread->gil_held_share = thread->gil_held_s / final->uptime_s;
    thread->gil_wait_share = thread->gil_wait_s / final->uptime_s;
}

static void fill_thread(struct Maker *maker, struct Thread *thread,
                        uint32_t tid, const char *name)
{
    size_t i, count;
    const struct Sum *parts = SumTable_of(&maker->sums->threads, tid, &count);
    double ns = 0;

    *thread =
        (struct Thread){.tid = tid, .name = text_of(maker, name), .ended = 0};
    for (i = 0; i < count; i++) {
        ns += parts[i].ns;
        thread->samples += parts[i].samples;
    }
    fill_waits_of(maker, thread);
    fill_gil_of(maker, thread);
    thread->cpu_s = ns / 1e9;
    thread->cpu_share = ns / maker->length_ns;
    thread->functions = list_parts(maker, parts, &count);
    thread->function_count = count;
}

// Threads with the same thread id share one row, which has the name of the
// first of these threads.
static void fill_threads(struct Maker *maker)
{
    const struct TimelineView *view = maker->sums->reader->trace.view;
    size_t i, j, count = 0;
    struct Thread *threads =
        Snapshot_alloc(maker->out, (view->thread_count + 1) * sizeof *threads);

    for (i = 0; threads && i < view->thread_count; i++) {
        const struct TimelineThread *from = &view->threads[i];
        uint32_t tid = (uint32_t)from->tid;

        if (from->number == TIMELINE_OWN || !tid)
            continue;
        for (j = 0; j < count && threads[j].tid != tid; j++)
            ;
        if (j == count)
            fill_thread(maker, &threads[count++], tid, from->name);
    }
    maker->out->threads = threads;
    maker->out->thread_count = count;
}

// --- Specialisation ----------------------------------------------------------

// Returns true if the instruction has lost its specialisation by the change.
// The name of a specialised opcode is the name of the base opcode, then "_" and
// more.
static bool is_deopt(const char *from, const char *to)
{
    size_t size = strlen(to);

    return strncmp(from, to, size) == 0 && from[size] == '_';
}

static const char *opcode(const struct Maker *maker, uint32_t number)
{
    return Opcodes_text(maker->sums->reader->trace.opcodes, (uint8_t)number);
}

static void fill_transition(struct Maker *maker, struct Transition *out,
                            const struct StretchChange *change)
{
    const char *from = opcode(maker, change->from);
    const char *to = opcode(maker, change->to);
    struct PerfettoName name = {0};

    StretchSums_name(maker->sums, change->id, &name);
    *out = (struct Transition){
        .seen_at_s = StretchSums_s(maker->sums, change->ticks),
        .function = text_of(maker, name.name ? name.name : RETIRED),
        .file = text_of(maker, name.file),
        .line = change->line ? change->line : NULL_U64,
        .offset = NULL_U64,
        .from = text_of(maker, from),
        .to = text_of(maker, to),
        .storm = NULL_U64,
        .id = change->id,
        .deopt = is_deopt(from, to)};
}

// Lists the newest change first, as a live process does.
static void fill_transitions(struct Maker *maker)
{
    const struct StretchSums *sums = maker->sums;
    size_t i, count = sums->change_count < STRETCH_CHANGES
                          ? (size_t)sums->change_count
                          : STRETCH_CHANGES;
    struct Transition *list =
        Snapshot_alloc(maker->out, (count + 1) * sizeof *list);

    for (i = 0; list && i < count; i++)
        fill_transition(
            maker, &list[i],
            &sums->changes[(sums->change_count - 1 - i) % STRETCH_CHANGES]);
    maker->out->transitions = list;
    maker->out->transition_count = list ? count : 0;
}

static int by_count(const void *a, const void *b)
{
    const struct TransitionPair *left = a, *right = b;

    return (left->count < right->count) - (left->count > right->count);
}

static void fill_pairs(struct Maker *maker)
{
    const struct SumTable *pairs = &maker->sums->pairs;
    struct TransitionPair *list =
        Snapshot_alloc(maker->out, (pairs->count + 1) * sizeof *list);
    size_t i;

    for (i = 0; list && i < pairs->count; i++) {
        const char *from = opcode(maker, Sum_first(&pairs->sums[i]) - 1);
        const char *to = opcode(maker, Sum_second(&pairs->sums[i]));

        list[i] =
            (struct TransitionPair){text_of(maker, from), text_of(maker, to),
                                    pairs->sums[i].calls, is_deopt(from, to)};
    }
    if (list && pairs->count)
        qsort(list, pairs->count, sizeof *list, by_count);
    maker->out->transition_pairs = list;
    maker->out->transition_pair_count = list ? pairs->count : 0;
}

// --- Whole snapshot ----------------------------------------------------------

// Replaces the shares and rates that were copied from the final snapshot by
// those of the whole run. The final snapshot has only the shares and rates of
// its last seconds.
static void average(struct Maker *maker)
{
    struct Snapshot *out = maker->out;
    // `const` may be cast away here, because the copies have no other reader
    // yet.
    struct ExceptionRow *exceptions = (struct ExceptionRow *)out->exceptions;
    struct LoopRow *loops = (struct LoopRow *)out->loops;
    double uptime = maker->final->uptime_s, pauses = 0;
    size_t i;

    for (i = 0; i < out->gc_generation_count; i++)
        pauses += out->gc_generations[i].total_s;
    out->gc_share = i ? pauses / uptime : NAN;
    out->gil_held = out->gil_held_s / uptime;
    out->gil_waited = out->gil_waited_s / uptime;
    for (i = 0; i < out->exception_count; i++) {
        struct ExceptionRow *row = &exceptions[i];

        row->raised_per_s = row->passed_per_s = NAN;
        if (row->raised != NULL_U64)
            row->raised_per_s = (double)row->raised / uptime;
        if (row->passed != NULL_U64)
            row->passed_per_s = (double)row->passed / uptime;
    }
    for (i = 0; i < out->loop_count; i++) {
        struct LoopRow *row = &loops[i];

        row->lag_s = row->steps_per_s = NAN;
        if (row->steps != NULL_U64)
            row->steps_per_s = (double)row->steps / uptime;
        if (row->timers && row->timers != NULL_U64)
            row->lag_s = row->late_s / (double)row->timers;
    }
}

// Copies those numbers of the whole process that are neither in events nor in
// samples.
static void take_final(struct Maker *maker)
{
    static const char *const names[] = {"gc",           "gil",
                                        "exceptions",   "loops",
                                        "tasks",        "exception_totals",
                                        "stalls_total", "objects"};
    const struct Snapshot *final = maker->final;
    struct Snapshot *out = maker->out;

    for (size_t i = 0; final && i < sizeof names / sizeof *names; i++)
        Record_take(&SNAPSHOT_RECORD, out, final, names[i], &out->arena);
    if (final) {
        average(maker);
        out->totals_s = final->uptime_s;
    }
}

// Sets the times for which threads waited for the GIL and for a CPU, from the
// recorded waits.
static void fill_waits(struct Maker *maker)
{
    struct Snapshot *out = maker->out;
    double kinds[WAIT_KINDS];
    double ns = WaitSums_divide_all(&maker->sums->waits, kinds);

    if (!maker->kinds)
        return;
    out->gil_waited_s = ns > 0 ? kinds[WAITS_GIL] / 1e9 : 0;
    out->gil_waited = out->gil_waited_s * 1e9 / maker->length_ns;
    out->cpu_waited = ns > 0 ? kinds[WAITS_CPU] / maker->length_ns : 0;
}

// Copies from the final snapshot those stalls of event loops that began in the
// chosen stretch of the run.
static void fill_stalls(struct Maker *maker)
{
    const struct Snapshot *final = maker->sums->reader->final;
    struct Snapshot *out = maker->out;
    struct StallRow *rows;
    size_t i, kept = 0;

    if (!final)
        return;
    Record_take(&SNAPSHOT_RECORD, out, final, "stalls", &out->arena);
    out->stall_limit_s = final->stall_limit_s;
    rows = (struct StallRow *)out->stalls; // The copy has no other reader yet.
    for (i = 0; i < out->stall_count; i++)
        if (rows[i].at_s >= maker->sums->from_s &&
            rows[i].at_s < maker->sums->to_s)
            rows[kept++] = rows[i];
    out->stall_count = kept;
}

static void fill_head(struct Maker *maker)
{
    const struct StretchSums *sums = maker->sums;
    struct Snapshot *out = maker->out;
    double s = maker->length_ns / 1e9;

    RecordingReader_facts(sums->reader, out);
    out->uptime_s = sums->to_s;
    out->events = sums->events;
    out->lost = sums->lost;
    if (sums->overheads)
        out->overhead_measured = out->overhead_mean =
            sums->overhead / (double)sums->overheads;
    if (isfinite(sums->armed))
        out->sites_armed = (uint64_t)sums->armed;
    out->sampler_hz = (double)sums->samples / s;
    out->sampler_samples = sums->samples;
    out->sampler_elsewhere = sums->else_ns / maker->length_ns;
    out->sampler_window_s = s;
    out->sampler_window_samples = (double)sums->samples;
}

static void count_states(struct Snapshot *out)
{
    size_t i;

    out->states_armed = out->states_partial = out->states_dark = 0;
    for (i = 0; i < out->function_count; i++) {
        uint64_t state = out->functions[i].state;

        out->states_armed += state == STATE_ARMED;
        out->states_partial += state == STATE_PARTIAL;
        out->states_dark += state == STATE_DARK;
    }
}

struct Snapshot *SummarySnapshot_make(const struct StretchSums *sums)
{
    struct Snapshot *final = sums->reader->final;
    const struct TimelineView *view = sums->reader->trace.view;
    struct Maker maker = {.sums = sums,
                          .final = is_all(sums) ? final : NULL,
                          .out = Snapshot_new(),
                          .length_ns = 1e9 * StretchSums_length(sums),
                          .counted = !sums->lost && !view->lost &&
                                     sums->from_s >= sums->counted_s &&
                                     !sums->reader->damaged};

    double kinds[WAIT_KINDS];

    if (!maker.out)
        return NULL;
    maker.kinds =
        StretchSums_has_waits(sums) &&
        (WaitSums_divide_all(&sums->waits, kinds) == 0 || !isnan(kinds[0]));

    fill_head(&maker);
    fill_functions(&maker);
    fill_threads(&maker);
    fill_transitions(&maker);
    fill_pairs(&maker);
    fill_waits(&maker);
    take_final(&maker);
    fill_stalls(&maker);
    SummaryLines_fill(maker.out, sums, maker.final, maker.length_ns);
    count_states(maker.out);
    return maker.out;
}
