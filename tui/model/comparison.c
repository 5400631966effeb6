// SPDX-License-Identifier: MIT
#include "tui/model/comparison.h"

#include "ipc/base/bytes.h"
#include "ipc/rows.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Least number of samples or calls for computing a mean or a rate.
#define LEAST 10.0
// A change is used for the pace only if its standard error is at most SURE.
#define SURE 0.5
// Least number of functions for computing the pace.
#define PACE_LEAST 3
// Least number of functions for computing the spread.
#define SPREAD_LEAST 5
// The standard deviation of a normal distribution is NORMAL times the median of
// the absolute values.
#define NORMAL 1.4826
// The variance of a median is MEDIAN_ERROR times the variance of a mean.
#define MEDIAN_ERROR 1.57
// Two runs count as equally long if the longer one takes at most ALIKE times as
// long as the shorter one.
#define ALIKE 1.2
// Two runs count as runs on the same machine if the ratio of their clock rates
// is at most CLOCKS.
#define CLOCKS 1.01
#define NOTES_MOST 4 // Largest number of notes about a comparison.

// --- Records -----------------------------------------------------------------

#define MEASURE(member, name)                                                  \
    ROW(FIELD_F64, ComparedFunction, member.a, name, "a"),                     \
        ROW(FIELD_F64, ComparedFunction, member.b, name, "b"),                 \
        ROW(FIELD_F64, ComparedFunction, member.change, name, "change"),       \
        ROW(FIELD_F64, ComparedFunction, member.error, name, "error"),         \
        ROW(FIELD_BOOL, ComparedFunction, member.apart, name, "differs")

static const struct Field WAIT_FIELDS[] = {
    TEXT(ComparedWait, kind), F64(ComparedWait, a), F64(ComparedWait, b)};
static const struct Record WAIT_RECORD =
    RECORD(ComparedWait, "wait", WAIT_FIELDS);

static const struct Field FUNCTION_FIELDS[] = {
    TEXT(ComparedFunction, name),
    TEXT(ComparedFunction, file),
    U64(ComparedFunction, line),
    MEASURE(share, "share"),
    MEASURE(mean, "cpu_ns_per_call"),
    MEASURE(rate, "calls_per_s"),
    ROW(FIELD_BOOL, ComparedFunction, apart, NULL, "differs"),
    F64(ComparedFunction, slowdown),
    F64(ComparedFunction, slowdown_error),
    MEASURE(wait, "wait"),
    LIST(ComparedFunction, waits, wait_count, WAIT_RECORD),
};
static const struct Record COMPARED_RECORD =
    RECORD(ComparedFunction, "function", FUNCTION_FIELDS);

static const struct Field RUN_FIELDS[] = {
    TEXT(ComparedRun, command),
    TEXT(ComparedRun, python),
    F64(ComparedRun, seconds),
    U64(ComparedRun, samples),
    F64(ComparedRun, tsc_hz),
    TEXT(ComparedRun, version),
    TEXT(ComparedRun, mode),
    TEXT(ComparedRun, events),
    U64(ComparedRun, threshold),
    F64(ComparedRun, overhead_budget),
    LIST(ComparedRun, exclude, exclude_count, FILTER_RULE_RECORD),
    LIST(ComparedRun, include_only, include_only_count, FILTER_RULE_RECORD)};
static const struct Record RUN_RECORD = RECORD(ComparedRun, "run", RUN_FIELDS);

static const struct Field NOTE_FIELDS[] = {TEXT(ComparisonNote, text)};
static const struct Record NOTE_RECORD =
    RECORD(ComparisonNote, "note", NOTE_FIELDS);

static const struct Field FIELDS[] = {
    LIST(Comparison, runs, run_count, RUN_RECORD),
    F64(Comparison, mean_pace),
    F64(Comparison, rate_pace),
    ROW(FIELD_U64, Comparison, apart, NULL, "differs"),
    LIST(Comparison, notes, note_count, NOTE_RECORD),
    LIST(Comparison, functions, function_count, COMPARED_RECORD),
    LIST(Comparison, numbers, number_count, COMPARED_NUMBER_RECORD)};
const struct Record COMPARISON_RECORD =
    RECORD(Comparison, "comparison", FIELDS);

// --- One run -----------------------------------------------------------------

// struct Side contains the numbers of one function in one run. All code objects
// with the same name and file count as one function.
struct Side {
    const char *name;
    const char *file;
    // NULL if several functions have this name and file, which is usual for
    // lambdas.
    const struct Function *only;
    uint64_t line, id;
    double share; // CPU time as a part of one core.
    double samples;
    double calls; // Number of calls (NaN = unknown).
    double calls_variance;
    // Waits by their kind as parts of one thread's time, and the sum of those
    // kinds that are compared. The sum is NaN if the kinds are not known.
    double waits[WAIT_KINDS];
    double wait;
    double wait_samples; // Number of observed waits.
};

struct Run {
    const struct Snapshot *snapshot;
    // One struct Side for each function, sorted by name and file.
    struct Side *sides;
    size_t count;
    double share; // CPU time of all samples as a part of one core.
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int by_place(const void *a, const void *b)
{
    const struct Side *left = a, *right = b;
    int by = strcmp(left->name, right->name);
    return by ? by : strcmp(left->file, right->file);
}

static int by_base(const void *a, const void *b)
{
    const struct Side *left = a, *right = b;
    int by = strcmp(left->name, right->name);
    return by ? by : strcmp(base_of(left->file), base_of(right->file));
}

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

// Returns false if a kind of wait says nothing about the program. An idle event
// loop has no work, and other programs decide how long a thread waits for a
// CPU.
static bool is_compared(size_t kind)
{
    return kind != WAITS_IDLE && kind != WAITS_CPU;
}

// Sets the waits of a function. A function that has never waited has no list of
// kinds.
static void take_waits(struct Side *side, const struct Function *f)
{
    if (!f->wait_count && !(f->wait_share == 0))
        side->wait = NAN;
    for (size_t i = 0; f->wait_count && i < WAIT_KINDS; i++) {
        side->waits[i] = known(f->waits->of[i]);
        side->wait += is_compared(i) ? side->waits[i] : 0;
    }
    if (f->samples != NULL_U64 && f->run_samples != NULL_U64 &&
        f->samples > f->run_samples)
        side->wait_samples = (double)(f->samples - f->run_samples);
}

static struct Side side_of(const struct Function *f)
{
    struct Side side = {.name = f->name ? f->name : "",
                        .file = f->file ? f->file : "",
                        .only = f->name && f->file ? f : NULL,
                        .line = f->line,
                        .id = f->id,
                        .share = known(f->cpu_share),
                        .calls = f->calls_estimated};
    if (f->run_samples != NULL_U64)
        side.samples = (double)f->run_samples;
    if (f->calls_exact == 1)
        side.calls = (double)f->calls;
    else if (isfinite(side.calls)) // If the error is unknown, 100 % is assumed.
        side.calls_variance =
            pow(side.calls * (isnan(f->calls_error) ? 1 : f->calls_error), 2);
    take_waits(&side, f);
    return side;
}

static void merge(struct Side *into, const struct Side *from)
{
    into->only = NULL;
    into->share += from->share;
    into->samples += from->samples;
    into->calls += from->calls;
    into->calls_variance += from->calls_variance;
    into->wait += from->wait;
    into->wait_samples += from->wait_samples;
    for (size_t i = 0; i < WAIT_KINDS; i++)
        into->waits[i] += from->waits[i];
    if (from->line < into->line)
        into->line = from->line;
}

static int read_run(struct Run *run, const struct Snapshot *snapshot)
{
    size_t count = snapshot->function_count, kept = 0;
    *run = (struct Run){.snapshot = snapshot};
    run->sides = calloc(count + 1, sizeof *run->sides);
    if (!run->sides)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        run->sides[i] = side_of(&snapshot->functions[i]);
    if (count)
        qsort(run->sides, count, sizeof *run->sides, by_place);
    for (size_t i = 0; i < count; i++)
        if (kept && by_place(&run->sides[kept - 1], &run->sides[i]) == 0)
            merge(&run->sides[kept - 1], &run->sides[i]);
        else
            run->sides[kept++] = run->sides[i];
    run->count = kept;
    for (size_t i = 0; i < kept; i++)
        run->share += run->sides[i].share;
    run->share += known(snapshot->sampler_elsewhere);
    return 0;
}

// --- Which function is which -------------------------------------------------

struct Pair {
    // One function in both runs, or NULL if a run does not have it.
    const struct Side *a, *b;
};

// Pairs the functions of both runs by name and file. Lines are not compared,
// because a change of a file moves its functions to other lines.
static size_t pair_up(struct Pair *pairs, const struct Run *a,
                      const struct Run *b)
{
    size_t i = 0, j = 0, count = 0;
    while (i < a->count || j < b->count) {
        int by = i == a->count   ? 1
                 : j == b->count ? -1
                                 : by_place(&a->sides[i], &b->sides[j]);
        pairs[count++] = (struct Pair){by <= 0 ? &a->sides[i] : NULL,
                                       by >= 0 ? &b->sides[j] : NULL};
        i += by <= 0;
        j += by >= 0;
    }
    return count;
}

static int by_base_of_pair(const void *a, const void *b)
{
    const struct Pair *left = a, *right = b;
    return by_base(left->a ? left->a : left->b, right->a ? right->a : right->b);
}

// Joins two unpaired functions of different runs if they have the same name and
// file name, and only the folder of the file differs. Two functions are joined
// only if each run has exactly one function of this name and file name.
static size_t join_moved(struct Pair *pairs, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(pairs, count, sizeof *pairs, by_base_of_pair);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && by_base_of_pair(&pairs[i], &pairs[end]) == 0)
            end++;
        struct Pair *one = &pairs[i], *two = &pairs[i + 1];
        if (end - i == 2 && !one->a != !two->a && !one->b != !two->b) {
            pairs[kept++] = (struct Pair){one->a ? one->a : two->a,
                                          one->b ? one->b : two->b};
            i = end;
        }
        for (; i < end; i++)
            pairs[kept++] = pairs[i];
    }
    return kept;
}

// --- One function ------------------------------------------------------------

static double samples_of(const struct Run *run)
{
    return run->snapshot->sampler_samples == NULL_U64
               ? 0
               : (double)run->snapshot->sampler_samples;
}

static double seconds_of(const struct Run *run)
{
    return run->snapshot->sampler_window_s;
}

static double share_of(const struct Run *run, const struct Side *side)
{
    return side && run->share > 0 ? side->share / run->share : 0;
}

// Returns the variance of a function's share. One sample of the function and
// one sample of other functions are added, so that the variance is not 0 for a
// function without samples.
static double share_variance(const struct Run *run, const struct Side *side)
{
    double all = samples_of(run);
    double part = ((side ? side->samples : 0) + 1) / (all + 2);
    return all > 0 ? part * (1 - part) / all : INFINITY;
}

static double mean_of(const struct Run *run, const struct Side *side)
{
    return side && side->calls >= LEAST && side->samples >= LEAST
               ? side->share * seconds_of(run) * 1e9 / side->calls
               : NAN;
}

static double rate_of(const struct Run *run, const struct Side *side)
{
    return side && side->calls >= LEAST ? side->calls / seconds_of(run) : NAN;
}

// Returns the variance of the logarithm of a function's mean CPU time per call,
// if `count` is the function's number of samples. If `count` is its number of
// calls, returns the variance of the logarithm of the calls per second. The
// number of calls is assumed to vary as if calls came at random times.
static double variance_of(double count, const struct Side *side)
{
    return 1 / count + side->calls_variance / pow(side->calls, 2);
}

// Returns the variance of a function's waiting time. The waits of a thread are
// known from its first observation on. Up to about a second can therefore be
// missing at the beginning and at the end of the run.
static double wait_variance(const struct Run *run, const struct Side *side)
{
    if (!side || !(side->wait > 0))
        return 0;
    return pow(side->wait, 2) / (side->wait_samples + 1) +
           pow(fmin(side->wait, 1) / seconds_of(run), 2);
}

static void compare_waits(struct ComparedFunction *f, const struct Pair *pair,
                          const struct Run *a, const struct Run *b)
{
    const struct Side *one = pair->a, *two = pair->b;
    f->wait.a = one ? one->wait : 0;
    f->wait.b = two ? two->wait : 0;
    f->wait.change = f->wait.b - f->wait.a;
    f->wait.error = sqrt(wait_variance(a, one) + wait_variance(b, two));
    f->wait.apart = fabs(f->wait.change) > COMPARISON_LIMIT * f->wait.error;
}

// Lists the waits of a function by their kinds. Returns false if memory is out.
static bool list_waits(struct Comparison *out, struct ComparedFunction *f,
                       const struct Pair *pair)
{
    struct ComparedWait *waits = NULL;
    size_t count = 0;
    for (unsigned i = 0; i < WAIT_KINDS; i++) {
        double a = pair->a ? pair->a->waits[i] : 0;
        double b = pair->b ? pair->b->waits[i] : 0;
        if (!(a > 0) && !(b > 0))
            continue;
        if (!waits)
            waits = Arena_alloc(&out->arena, WAIT_KINDS * sizeof *waits);
        if (!waits)
            return false;
        waits[count++] = (struct ComparedWait){WaitKind_name(i), a, b};
    }
    f->waits = waits;
    f->wait_count = count;
    return true;
}

static void compare(struct ComparedFunction *f, const struct Pair *pair,
                    const struct Run *a, const struct Run *b)
{
    const struct Side *one = pair->a, *two = pair->b;
    const struct Side *either = two ? two : one;
    *f = (struct ComparedFunction){
        .name = either->name,
        .file = either->file,
        .line = either->line,
        .id = two ? two->id : NULL_U64,
        .share = {.a = share_of(a, one), .b = share_of(b, two)},
        .mean = {.a = mean_of(a, one), .b = mean_of(b, two)},
        .rate = {.a = rate_of(a, one), .b = rate_of(b, two)},
        .spent = {.change = NAN, .error = NAN}};
    f->share.change = f->share.b - f->share.a;
    f->share.error = sqrt(share_variance(a, one) + share_variance(b, two));
    if (one && two && one->samples >= LEAST && two->samples >= LEAST) {
        f->spent.change = log(f->share.b / f->share.a);
        f->spent.error = sqrt(1 / one->samples + 1 / two->samples);
    }
    f->mean.change = log(f->mean.b / f->mean.a);
    f->mean.error = isnan(f->mean.change)
                        ? NAN
                        : sqrt(variance_of(one->samples, one) +
                               variance_of(two->samples, two));
    f->rate.change = log(f->rate.b / f->rate.a);
    f->rate.error =
        isnan(f->rate.change)
            ? NAN
            : sqrt(variance_of(one->calls, one) + variance_of(two->calls, two));
    compare_waits(f, pair, a, b);
}

// --- All functions -----------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

// struct Pace contains the median change of all functions between two runs.
struct Pace {
    // Logarithm of the median change as a factor (NaN = unknown).
    double change;
    double variance; // Variance of `change`.
};

static struct Pace find_pace(struct ComparedFunction *functions, size_t count,
                             enum Measure which, double *room)
{
    struct Pace pace = {NAN, 0};
    double squares = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct Measured *measured = &functions[i].of[which];
        if (!(measured->error <= SURE))
            continue;
        room[kept++] = measured->change;
        squares += measured->error * measured->error;
    }
    if (kept < PACE_LEAST)
        return pace;
    pace.change = median(room, kept);
    pace.variance = MEDIAN_ERROR * squares / (double)(kept * kept);
    return pace;
}

// Returns the spread, which says how much larger the scatter of the changes is
// than the standard errors predict, but at least 1. The spread is computed from
// a median, so that a few functions with real changes have hardly any effect on
// it.
static double find_spread(struct ComparedFunction *functions, size_t count,
                          enum Measure which, double *room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct Measured *measured = &functions[i].of[which];
        bool sampled = functions[i].share.a > 0 && functions[i].share.b > 0;
        if (sampled && isfinite(measured->change) && measured->error > 0)
            room[kept++] = fabs(measured->change) / measured->error;
    }
    return kept < SPREAD_LEAST ? 1 : fmax(1, NORMAL * median(room, kept));
}

// Multiplies all errors of a measure by `spread`. If `allowed` is true, marks
// the functions whose change is more than noise.
static void tell_apart(struct ComparedFunction *functions, size_t count,
                       enum Measure which, double spread, bool allowed)
{
    for (size_t i = 0; i < count; i++) {
        struct Measured *measured = &functions[i].of[which];
        measured->error *= spread;
        measured->apart = allowed && fabs(measured->change) >
                                         COMPARISON_LIMIT * measured->error;
    }
}

struct Settled {
    // Factor of the median change of all functions (find_pace), or NaN if
    // unknown.
    double pace;
    double spread; // The result of find_spread.
};

// Subtracts the pace from the changes of a measure, and marks those changes
// that are more than noise. Converts the changes from logarithms to fractions.
static struct Settled settle(struct ComparedFunction *functions, size_t count,
                             enum Measure which, double *room, bool allowed)
{
    struct Pace pace = find_pace(functions, count, which, room);
    double spread;
    for (size_t i = 0; i < count; i++) {
        struct Measured *measured = &functions[i].of[which];
        measured->change -= known(pace.change);
        measured->error =
            sqrt(measured->error * measured->error + pace.variance);
    }
    spread = find_spread(functions, count, which, room);
    tell_apart(functions, count, which, spread,
               allowed && isfinite(pace.change));
    for (size_t i = 0; i < count; i++) {
        struct Measured *measured = &functions[i].of[which];
        measured->change = expm1(measured->change);
        measured->error *= 1 + measured->change;
    }
    return (struct Settled){exp(pace.change), spread};
}

// Sets the slowdown and the weight of a function. The slowdown is the change of
// the mean or the change of the relative share, whichever has the smaller
// error. `means` is true if the pace of the mean is known, and `spent` is true
// if the pace of the relative share is known.
static void conclude(struct ComparedFunction *f, bool means, bool spent)
{
    double share = fmax(f->share.a, f->share.b);
    f->apart =
        f->share.apart || f->mean.apart || f->rate.apart || f->wait.apart;
    f->slowdown = f->slowdown_error = NAN;
    if (means && isfinite(f->mean.error)) {
        f->slowdown = f->mean.change;
        f->slowdown_error = f->mean.error;
    }
    if (spent && !(f->spent.error >= f->slowdown_error)) {
        f->slowdown = f->spent.change;
        f->slowdown_error = f->spent.error;
    }
    f->weight = f->share.apart || !f->apart ? fabs(f->share.change) : 0;
    if (f->mean.apart)
        f->weight = fmax(f->weight, fabs(f->mean.change) * share);
    if (f->rate.apart)
        f->weight = fmax(f->weight, fabs(f->rate.change) * share);
    if (f->wait.apart)
        f->weight = fmax(f->weight, fabs(f->wait.change));
}

static int by_weight(const void *a, const void *b)
{
    const struct ComparedFunction *left = a, *right = b;
    if (left->apart != right->apart)
        return left->apart ? -1 : 1;
    if (left->weight != right->weight)
        return left->weight < right->weight ? 1 : -1;
    return strcmp(left->name, right->name);
}

// --- What was compared -------------------------------------------------------

static void note(struct Comparison *out, struct ComparisonNote *notes,
                 const char *text)
{
    notes[out->note_count].text = Arena_text(&out->arena, text);
    out->note_count += notes[out->note_count].text != NULL;
}

static void add(struct Bytes *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Appends an item to a comma-separated list.
static void add(struct Bytes *text, const char *format, ...)
{
    char part[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    if (text->size)
        Bytes_put(text, ", ", 2);
    Bytes_put(text, part,
              size < (int)sizeof part ? (size_t)size : sizeof part - 1);
}

static bool has_rule(const struct FilterRule *rules, size_t count,
                     const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rules[i].text, text) == 0)
            return true;
    return false;
}

// Appends the rules that run `number` has and the other run does not have.
static void add_rules(struct Bytes *text, const struct ComparedRun *runs,
                      int number)
{
    const struct ComparedRun *run = &runs[number], *other = &runs[1 - number];
    const char *where = number ? "second" : "first";
    for (size_t i = 0; i < run->exclude_count; i++)
        if (!has_rule(other->exclude, other->exclude_count,
                      run->exclude[i].text))
            add(text, "exclude %.100s only in the %s", run->exclude[i].text,
                where);
    for (size_t i = 0; i < run->include_only_count; i++)
        if (!has_rule(other->include_only, other->include_only_count,
                      run->include_only[i].text))
            add(text, "include only %.100s only in the %s",
                run->include_only[i].text, where);
}

static const char *percent(char out[32], double share)
{
    if (share > 0)
        snprintf(out, 32, "%.4g%%", 100 * share);
    else
        snprintf(out, 32, "none");
    return out;
}

// Lists the trace settings that differ between the two runs. In an older
// recording the version of Ocular, the budget and the filter are unknown.
static void list_settings(struct Bytes *text, const struct ComparedRun *runs)
{
    const struct ComparedRun *a = &runs[0], *b = &runs[1];
    char one[32], two[32];
    if (a->mode && b->mode && strcmp(a->mode, b->mode) != 0)
        add(text, "mode %.20s and %.20s", a->mode, b->mode);
    if (a->threshold != b->threshold)
        add(text, "threshold %llu and %llu", (unsigned long long)a->threshold,
            (unsigned long long)b->threshold);
    if (a->events && b->events && a->mode && b->mode &&
        strcmp(a->mode, b->mode) == 0 && strcmp(a->events, b->events) != 0)
        add(text, "events %.60s and %.60s", a->events, b->events);
    if (!a->version || !b->version)
        return;
    if (strcmp(percent(one, a->overhead_budget),
               percent(two, b->overhead_budget)) != 0)
        add(text, "budget %s and %s", one, two);
    add_rules(text, runs, 0);
    add_rules(text, runs, 1);
    if (strcmp(a->version, b->version) != 0)
        add(text, "Ocular %.40s and %.40s", a->version, b->version);
}

static void note_settings(struct Comparison *out, struct ComparisonNote *notes)
{
    char text[400];
    struct Bytes settings;
    Bytes_init(&settings);
    list_settings(&settings, out->runs);
    if (settings.size && !settings.error) {
        snprintf(text, sizeof text,
                 "They were traced with different settings, so counts and "
                 "times may differ for this reason: %.*s.",
                 settings.size < 240 ? (int)settings.size : 240,
                 (const char *)settings.data);
        note(out, notes, text);
    }
    Bytes_release(&settings);
}

static bool differ(double a, double b, double most)
{
    return a > 0 && b > 0 && (a > most * b || b > most * a);
}

// Writes notes on the differences between the runs. Returns true if calls per
// second may be compared.
static bool write_notes(struct Comparison *out, struct ComparisonNote *notes)
{
    const struct ComparedRun *a = &out->runs[0], *b = &out->runs[1];
    bool machines = differ(a->tsc_hz, b->tsc_hz, CLOCKS);
    bool lengths = differ(a->seconds, b->seconds, ALIKE);
    bool pythons = a->python && b->python && strcmp(a->python, b->python) != 0;
    char text[256];
    note_settings(out, notes);
    if (pythons) {
        snprintf(text, sizeof text, "They are runs of %.40s and %.40s.",
                 a->python, b->python);
        note(out, notes, text);
    }
    if (machines) {
        snprintf(text, sizeof text,
                 "They ran on different machines, of %.2f and %.2f GHz: shares "
                 "and means are compared, and no calls a second.",
                 a->tsc_hz / 1e9, b->tsc_hz / 1e9);
        note(out, notes, text);
    } else if (lengths) {
        snprintf(text, sizeof text,
                 "They took %.1f and %.1f s: shares and means are compared, "
                 "and no calls a second.",
                 a->seconds, b->seconds);
        note(out, notes, text);
    }
    return !machines && !lengths;
}

static void note_pace(struct Comparison *out, struct ComparisonNote *notes)
{
    char text[256];
    if (isfinite(out->mean_pace))
        snprintf(text, sizeof text,
                 "A call in the second run takes %.2f of its CPU time in the "
                 "first (median): changes of means are from there.",
                 out->mean_pace);
    else
        snprintf(text, sizeof text,
                 "Fewer than %d functions have samples and calls enough to "
                 "know the machine's pace by: only shares are told apart.",
                 PACE_LEAST);
    note(out, notes, text);
}

// --- The whole ---------------------------------------------------------------

static const struct FilterRule *
copy_rules(struct Comparison *out, const struct FilterRule *from, size_t *count)
{
    struct FilterRule *rules =
        Arena_alloc(&out->arena, (*count + 1) * sizeof *rules);
    size_t kept = 0;
    for (size_t i = 0; rules && i < *count; i++) {
        rules[kept].text = Arena_text(&out->arena, from[i].text);
        // A forged recording may lack a rule's text.
        kept += rules[kept].text != NULL;
    }
    *count = kept;
    return rules;
}

static struct ComparedRun run_of(struct Comparison *out, const struct Run *run)
{
    const struct Snapshot *s = run->snapshot;
    struct ComparedRun compared = {
        .command = Arena_text(&out->arena, s->command),
        .python = Arena_text(&out->arena, s->python),
        .seconds = seconds_of(run),
        .samples = s->sampler_samples,
        .tsc_hz = s->tsc_hz,
        .version = Arena_text(&out->arena, s->version),
        .mode = Arena_text(&out->arena, s->mode),
        .events = Arena_text(&out->arena, s->chosen),
        .threshold = s->threshold,
        .overhead_budget = s->overhead_budget,
        .exclude_count = s->filter_exclude_count,
        .include_only_count = s->filter_include_only_count};
    compared.exclude =
        copy_rules(out, s->filter_exclude, &compared.exclude_count);
    compared.include_only =
        copy_rules(out, s->filter_include_only, &compared.include_only_count);
    return compared;
}

// Returns true if calls per second may be compared.
static bool judge(struct Comparison *out, struct ComparisonNote *notes,
                  double *room)
{
    struct ComparedFunction *all = out->functions;
    size_t count = out->function_count;
    bool rates = write_notes(out, notes);
    struct Settled spent = settle(all, count, MEASURE_SPENT, room, true);
    tell_apart(all, count, MEASURE_SHARE, spent.spread, true);
    out->mean_pace = settle(all, count, MEASURE_MEAN, room, true).pace;
    out->rate_pace = settle(all, count, MEASURE_RATE, room, rates).pace;
    note_pace(out, notes);
    for (size_t i = 0; i < count; i++) {
        conclude(&all[i], isfinite(out->mean_pace), isfinite(spent.pace));
        out->apart += all[i].apart;
    }
    if (count)
        qsort(all, count, sizeof *all, by_weight);
    return rates;
}

// Lists the functions whose latencies are compared. If several functions of a
// run have the same name and file, it is unknown which function of the other
// run is the same, because lines move if the program is changed.
static size_t list_same(struct SameFunction *same, const struct Pair *pairs,
                        size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct Side *a = pairs[i].a, *b = pairs[i].b;
        if (a && b && a->only && b->only)
            same[found++] = (struct SameFunction){a->only, b->only};
    }
    return found;
}

static int fill(struct Comparison *out, const struct Run *a,
                const struct Run *b)
{
    size_t most = a->count + b->count + 1, count;
    struct Pair *pairs = calloc(most, sizeof *pairs);
    double *room = calloc(most, sizeof *room);
    struct SameFunction *same = calloc(most, sizeof *same);
    struct ComparedRun *runs = Arena_alloc(&out->arena, 2 * sizeof *runs);
    struct ComparisonNote *notes =
        Arena_alloc(&out->arena, NOTES_MOST * sizeof *notes);
    struct ComparedFunction *functions =
        Arena_alloc(&out->arena, most * sizeof *functions);
    int error =
        pairs && room && same && runs && notes && functions ? 0 : -ENOMEM;
    if (!error) {
        count = join_moved(pairs, pair_up(pairs, a, b));
        for (size_t i = 0; i < count; i++) {
            compare(&functions[i], &pairs[i], a, b);
            functions[i].name = Arena_text(&out->arena, functions[i].name);
            functions[i].file = Arena_text(&out->arena, functions[i].file);
            if (!functions[i].name || !functions[i].file ||
                !list_waits(out, &functions[i], &pairs[i]))
                error = -ENOMEM;
        }
        runs[0] = run_of(out, a);
        runs[1] = run_of(out, b);
        out->runs = runs;
        out->run_count = 2;
        out->notes = notes;
        out->functions = functions;
        out->function_count = error ? 0 : count;
        bool rates = judge(out, notes, room);
        if (!error)
            out->numbers = RunNumbers_compare(
                &out->arena, a->snapshot, b->snapshot, same,
                list_same(same, pairs, count), rates, &out->number_count);
        if (!error && !out->numbers)
            error = -ENOMEM;
    }
    free(pairs);
    free(room);
    free(same);
    return error;
}

int Comparison_make(struct Comparison *out, const struct Snapshot *a,
                    const struct Snapshot *b)
{
    struct Run one, two = {0};
    *out = (struct Comparison){.mean_pace = NAN, .rate_pace = NAN};
    int error = read_run(&one, a);
    if (!error)
        error = read_run(&two, b);
    if (!error)
        error = fill(out, &one, &two);
    free(one.sides);
    free(two.sides);
    return error;
}

void Comparison_release(struct Comparison *comparison)
{
    Arena_release(&comparison->arena);
    *comparison = (struct Comparison){0};
}

const char *Comparison_wait(const struct ComparedFunction *function)
{
    const char *kind = NULL;
    double sign = function->wait.change < 0 ? -1 : 1, most = 0;
    for (size_t i = 0; i < function->wait_count; i++) {
        const struct ComparedWait *wait = &function->waits[i];
        double change = sign * (wait->b - wait->a);
        if (is_compared(WaitKind_of(wait->kind)) && change > most) {
            most = change;
            kind = wait->kind;
        }
    }
    return kind;
}

bool Comparison_is_slower(const struct ComparedFunction *function, double limit)
{
    double least =
        function->slowdown - COMPARISON_LIMIT * function->slowdown_error;
    return least > limit;
}
