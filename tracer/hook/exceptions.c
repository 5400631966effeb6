// SPDX-License-Identifier: MIT
#include "tracer/hook/exceptions.h"
#include "ipc/base/heap.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"

#include <math.h>
#include <string.h>

// Fraction of the budget that fills the bucket.
#define PART 0.1
// Seconds of income in a full bucket, and the smallest and the largest number
// of tokens in a full bucket.
#define FULL_S 10.0
#define TOKENS_LEAST 5000.0
#define TOKENS_MOST 20000.0
// The last window before a gap has about LAST of the tokens of a full bucket.
// If a burst causes the gap, this window is in the burst. A bucket with less
// than half of these tokens counts as empty, because shorter windows would only
// show the peaks of a burst.
#define LAST 0.125
// Gaps that follow each other are estimated from nearly the same windows. So
// the variance of the sum of all gaps is this multiple of the sum of their
// variances.
#define SAME ((1 + SPANS_KEPT) / (1 - SPANS_KEPT))
// A new kind of exceptions takes as long as this number of calls of the hook.
#define SLOW_EVENTS 20
#define WINDOW_NS 20e6 // Least CPU time of a window that no gap ends.
// A new kind may replace a kind that was not seen for OLD_S seconds. Gaps do
// not count as such seconds.
#define OLD_S 60.0
// After this number of seconds, a kind that may be replaced is searched again.
#define SEARCH_S 1.0

// --- Labels ------------------------------------------------------------------

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

// Returns how many bytes of the type's name to copy. The copy has at most
// EXCEPTION_TYPE_SIZE - 1 bytes, and ends with a whole character.
static size_t type_length(const char *type)
{
    size_t length = strnlen(type, EXCEPTION_TYPE_SIZE);

    if (length < EXCEPTION_TYPE_SIZE)
        return length;
    for (length--; length && (type[length] & 0xc0) == 0x80; length--)
        ;
    return length;
}

static struct ExceptionLabel *make_label(const struct Code *code,
                                         const char *type, uint64_t ticks)
{
    size_t length = type_length(type);
    size_t function = code ? size_of(code->who.name) : 0;
    size_t file = code ? size_of(code->who.file) : 0;
    struct ExceptionLabel *label =
        Heap_zeroed(1, sizeof *label + length + 1 + function + file);

    if (!label)
        return NULL;
    label->began = ticks;
    memcpy(label->type, type, length);
    if (!code)
        return label;
    label->id = code->hot.id;
    label->first_line = code->who.line;
    label->function =
        memcpy(label->type + length + 1, code->who.name, function);
    label->file =
        memcpy(label->type + length + 1 + function, code->who.file, file);
    return label;
}

static struct ExceptionLabel *label_of(const struct ExceptionKind *kind)
{
    return atomic_load_explicit(&kind->label, memory_order_relaxed);
}

static void set_label(struct Exceptions *exceptions, struct ExceptionKind *kind,
                      struct ExceptionLabel *label)
{
    struct ExceptionLabel *old = label_of(kind);

    // This store pairs with the acquire in ExceptionRows_fill.
    atomic_store_explicit(&kind->label, label, memory_order_release);
    if (!old)
        return;
    old->next = atomic_load_explicit(&exceptions->old, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&exceptions->old, &old->next,
                                                  old, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

void Exceptions_free_old(struct Exceptions *exceptions)
{
    struct ExceptionLabel *label = atomic_exchange_explicit(
                              &exceptions->old, NULL, memory_order_acquire),
                          *next;

    for (; label; label = next) {
        next = label->next;
        Heap_free(label);
    }
}

static bool is_same(const struct ExceptionLabel *a,
                    const struct ExceptionLabel *b)
{
    if (!a->function != !b->function || strcmp(a->type, b->type) != 0)
        return false;
    return !a->function || (a->first_line == b->first_line &&
                            strcmp(a->function, b->function) == 0 &&
                            strcmp(a->file, b->file) == 0);
}

// --- Kinds -------------------------------------------------------------------

static uint32_t number_of(const struct Exceptions *exceptions,
                          const struct ExceptionKind *kind)
{
    return (uint32_t)(kind - exceptions->kinds);
}

static void unlink_kind(struct Exceptions *exceptions,
                        const struct ExceptionKind *kind)
{
    uint32_t number = number_of(exceptions, kind);
    uint16_t *at = &exceptions->chains[kind->chain];

    while (*at && *at != number)
        at = &exceptions->kinds[*at].next;
    *at = kind->next;
}

void Exceptions_link(struct Exceptions *exceptions, struct ExceptionKind *kind)
{
    kind->chain = Exceptions_chain(kind->code, *kind->type);
    kind->next = exceptions->chains[kind->chain];
    exceptions->chains[kind->chain] = (uint16_t)number_of(exceptions, kind);
}

void Exceptions_forget_code(struct Exceptions *exceptions,
                            const struct Code *code)
{
    size_t used = Counter_get(&exceptions->used);

    for (size_t i = 1; code->hot.raises && i < used; i++)
        if (exceptions->kinds[i].code == code)
            exceptions->kinds[i].code = EXCEPTION_NO_CODE;
}

void Exceptions_cache(struct Exceptions *exceptions, const struct Code *code,
                      uint32_t version, const struct ExceptionKind *kind)
{
    uint64_t key = Exceptions_key(code, version);
    struct ExceptionEntry *set = Exceptions_set_of(exceptions, key);

    for (int i = 0; i < EXCEPTION_SET_SIZE; i++)
        if (set[i].key == key) {
            set[i].number = (uint16_t)number_of(exceptions, kind);
            return;
        }
    // The new entry replaces the oldest entry of the set.
    memmove(set + 1, set, (EXCEPTION_SET_SIZE - 1) * sizeof *set);
    set->key = key;
    set->number = (uint16_t)number_of(exceptions, kind);
}

static void begin_change(struct Exceptions *exceptions)
{
    Counter_add(&exceptions->version, 1);
    // This fence pairs with the acquire in ExceptionRows_fill.
    atomic_thread_fence(memory_order_release);
}

static void end_change(struct Exceptions *exceptions)
{
    // This store pairs with the acquire in ExceptionRows_fill.
    atomic_store_explicit(&exceptions->version,
                          Counter_get(&exceptions->version) + 1,
                          memory_order_release);
}

static void add_double(counter_t *counter, double value)
{
    Counter_set_double(counter, Counter_get_double(counter) + value);
}

static void move_double(counter_t *to, counter_t *from)
{
    add_double(to, Counter_get_double(from));
    Counter_set(from, 0);
}

static struct Code *code_of(const struct ExceptionKind *kind)
{
    return kind->code == EXCEPTION_NO_CODE ? NULL : kind->code;
}

// Adds the kind's rate of exceptions to the rate of its code, or subtracts it
// if `sign` is -1.
static void add_rate(struct Exceptions *exceptions,
                     const struct ExceptionKind *kind, int sign)
{
    const struct ExceptionEstimate *of =
        &exceptions->estimates[number_of(exceptions, kind)];
    double rate = Counter_get_double(&of->rate[EXCEPTION_RAISED]);
    struct Code *code = code_of(kind);

    if (code)
        Counter_set_double(
            &code->cold.raised_rate,
            fmax(Counter_get_double(&code->cold.raised_rate) + sign * rate, 0));
}

// Adds the numbers of a kind to kinds[0], and frees its entry.
static void give_up(struct Exceptions *exceptions, struct ExceptionKind *kind)
{
    struct ExceptionKind *others = &exceptions->kinds[0];
    struct ExceptionEstimate *to = &exceptions->estimates[0];
    struct ExceptionEstimate *from =
        &exceptions->estimates[number_of(exceptions, kind)];

    add_rate(exceptions, kind, -1);
    for (int i = 0; i < EXCEPTION_ACTS; i++) {
        Counter_add(&others->counts[i], Counter_get(&kind->counts[i]));
        Counter_set(&kind->counts[i], 0);
        to->opened[i] += from->opened[i];
        move_double(&to->missed[i], &from->missed[i]);
    }
    move_double(&to->missed_variance, &from->missed_variance);
    if (Counter_get(&kind->newest) > Counter_get(&others->newest))
        Counter_set(&others->newest, Counter_get(&kind->newest));
    *from = (struct ExceptionEstimate){0};
    set_label(exceptions, kind, NULL);
    atomic_store_explicit(&kind->line, 0, memory_order_relaxed);
}

// Returns the ticks since the newest exception of the kind, without gaps.
static int64_t age_of(const struct Exceptions *exceptions, size_t number,
                      uint64_t ticks)
{
    return (int64_t)(ticks - Counter_get(&exceptions->kinds[number].newest) -
                     exceptions->gaps + exceptions->estimates[number].gaps);
}

// Returns the kind that was not seen for the longest time, or NULL if it was
// seen within the last OLD_S seconds.
static struct ExceptionKind *oldest(struct Exceptions *exceptions,
                                    uint64_t ticks)
{
    size_t found = 1;

    if (ticks < exceptions->next_search)
        return NULL;
    for (size_t i = 2; i < EXCEPTION_KINDS; i++)
        if (age_of(exceptions, i, ticks) > age_of(exceptions, found, ticks))
            found = i;
    if ((double)age_of(exceptions, found, ticks) > OLD_S * exceptions->hz)
        return &exceptions->kinds[found];
    exceptions->next_search = ticks + (uint64_t)(SEARCH_S * exceptions->hz);
    return NULL;
}

static struct ExceptionKind *twin_of(struct Exceptions *exceptions,
                                     const struct ExceptionLabel *label)
{
    size_t used = Counter_get(&exceptions->used);

    for (size_t i = 1; i < used; i++)
        if (is_same(label_of(&exceptions->kinds[i]), label))
            return &exceptions->kinds[i];
    return NULL;
}

static struct ExceptionKind *free_kind(struct Exceptions *exceptions,
                                       uint64_t ticks)
{
    size_t used = Counter_get(&exceptions->used);
    struct ExceptionKind *kind;

    if (used < EXCEPTION_KINDS) {
        Counter_set(&exceptions->used, used + 1);
        return &exceptions->kinds[used];
    }
    kind = oldest(exceptions, ticks);
    if (kind) {
        unlink_kind(exceptions, kind);
        give_up(exceptions, kind);
        memset(exceptions->cache, 0, sizeof exceptions->cache);
    }
    return kind;
}

// Returns the standard deviation of the rate of a kind with `seen` exceptions
// in the windows. It is not 0 for a kind that was not seen.
static double rate_error(const struct Exceptions *exceptions, double seen,
                         double squares)
{
    double all = exceptions->window_ns;

    return sqrt(SAME * (seen + 1) *
                Spans_clump(seen, all, squares, exceptions->windows)) /
           all;
}

// Earlier gaps may have had exceptions of a new kind, too.
static void begin_errors(const struct Exceptions *exceptions,
                         struct ExceptionEstimate *of)
{
    double error;

    if (!(exceptions->windows > 0))
        return;
    error = rate_error(exceptions, 0, 0);
    Counter_set_double(&of->rate_error, error);
    Counter_set_double(&of->missed_variance,
                       error * error *
                           Counter_get_double(&exceptions->gap_squares));
}

struct ExceptionKind *Exceptions_take(struct Exceptions *exceptions,
                                      struct Code *code, const char *type,
                                      uint64_t ticks)
{
    struct ExceptionLabel *label = make_label(code, type, ticks);
    struct ExceptionKind *kind, *twin;

    if (!label)
        return NULL;
    begin_change(exceptions);
    kind = twin = twin_of(exceptions, label);
    if (twin) {
        unlink_kind(exceptions, twin);
        add_rate(exceptions, twin, -1);
        label->began = label_of(twin)->began;
    } else {
        kind = free_kind(exceptions, ticks);
        if (kind)
            begin_errors(exceptions,
                         &exceptions->estimates[number_of(exceptions, kind)]);
    }
    if (kind) {
        if (twin && label_of(twin)->id == label->id)
            Heap_free(label); // The old label has the same names.
        else
            set_label(exceptions, kind, label);
        kind->code = code;
        add_rate(exceptions, kind, 1);
        Counter_set(&kind->newest, ticks);
        if (code)
            code->hot.raises = true;
    } else {
        Heap_free(label);
    }
    end_change(exceptions);
    return kind;
}

// --- Windows -----------------------------------------------------------------

void Exceptions_reset(struct Exceptions *exceptions)
{
    size_t used = Counter_get(&exceptions->used);

    for (size_t i = 0; i < used; i++)
        set_label(exceptions, &exceptions->kinds[i], NULL);
    Exceptions_free_old(exceptions);
    memset(exceptions->kinds, 0, used * sizeof *exceptions->kinds);
    memset(exceptions->estimates, 0, used * sizeof *exceptions->estimates);
    memset(exceptions, 0, offsetof(struct Exceptions, kinds));
    Counter_set(&exceptions->used, 1);
}

static double cpu_since(const struct Exceptions *exceptions, uint64_t cpu_ns)
{
    uint64_t since = Counter_get(&exceptions->cpu_ns);

    return fmax((double)(int64_t)(cpu_ns - since), 0);
}

static void open_window(struct Exceptions *exceptions, uint64_t cpu_ns,
                        double pending)
{
    size_t used = Counter_get(&exceptions->used);

    Counter_set_double(&exceptions->pending, pending);
    Counter_set(&exceptions->cpu_ns, cpu_ns);
    exceptions->opened = Counter_get(&exceptions->events);
    for (size_t i = 0; i < used; i++)
        for (int act = 0; act < EXCEPTION_ACTS; act++)
            exceptions->estimates[i].opened[act] =
                Counter_get(&exceptions->kinds[i].counts[act]);
}

// Adds the exceptions of a window that ends to the estimate of a kind. Returns
// the estimated number of exceptions of this kind that were raised in the gap
// before the window. The error of this number includes the difference between
// the windows beside the gap and the mean of all windows, because a gap often
// begins in a burst.
static double estimate(struct Exceptions *exceptions, size_t number, double ns)
{
    struct ExceptionEstimate *of = &exceptions->estimates[number];
    const struct ExceptionKind *kind = &exceptions->kinds[number];
    double pending = Counter_get_double(&exceptions->pending);
    double all = exceptions->window_ns, missed = 0, seen, newest = 0;
    double error, gap;

    for (int act = EXCEPTION_ACTS; act-- > 0;) {
        double count =
            (double)(Counter_get(&kind->counts[act]) - of->opened[act]);

        if (count > 0)
            of->gaps = exceptions->gaps;
        of->seen[act] = SPANS_KEPT * of->seen[act] + count;
        if (of->seen[act] < SPANS_NO_CALLS) // Smaller numbers are slow.
            of->seen[act] = 0;
        missed = of->seen[act] / all * pending;
        Counter_set_double(&of->rate[act], of->seen[act] / all);
        add_double(&of->missed[act], missed);
        if (act == EXCEPTION_RAISED)
            newest = count;
    }
    seen = of->seen[EXCEPTION_RAISED];
    of->squares =
        seen > 0 ? SPANS_KEPT * of->squares + newest * newest / ns : 0;
    error = sum_error(rate_error(exceptions, seen, of->squares),
                      newest / ns - seen / all);
    gap = pending * fmax(error, Counter_get_double(&of->rate_error));
    Counter_set_double(&of->rate_error, error);
    add_double(&of->missed_variance, gap * gap);
    return missed;
}

// Returns the CPU time of the window in ns, without the time that Ocular's hook
// for exceptions took.
static double window_length(const struct Exceptions *exceptions,
                            uint64_t cpu_ns)
{
    double ns = cpu_since(exceptions, cpu_ns);
    double count =
        (double)(Counter_get(&exceptions->events) - exceptions->opened);

    return fmax(fmax(ns - count * EXCEPTION_S * 1e9, ns / 2), 1);
}

static void close_window(struct Exceptions *exceptions, uint64_t cpu_ns)
{
    double length = window_length(exceptions, cpu_ns);
    double pending = Counter_get_double(&exceptions->pending);
    size_t used = Counter_get(&exceptions->used);
    struct Code *code;

    add_double(&exceptions->gap_squares, pending * pending);
    exceptions->windows = SPANS_KEPT * exceptions->windows + 1;
    exceptions->window_ns = SPANS_KEPT * exceptions->window_ns + length;
    for (size_t i = 0; i < used; i++)
        if ((code = code_of(&exceptions->kinds[i])))
            Counter_set(&code->cold.raised_rate, 0);
    for (size_t i = 0; i < used; i++) {
        double missed = estimate(exceptions, i, length);

        if (!(code = code_of(&exceptions->kinds[i])))
            continue;
        add_double(&code->cold.raised_missed, missed);
        add_double(&code->cold.raised_rate,
                   Counter_get_double(
                       &exceptions->estimates[i].rate[EXCEPTION_RAISED]));
        if (Counter_get(&exceptions->missed))
            Code_touch(code);
    }
    open_window(exceptions, cpu_ns, 0);
}

// --- Tokens ------------------------------------------------------------------

static double full(const struct Exceptions *exceptions)
{
    return fmin(fmax(FULL_S * exceptions->income, TOKENS_LEAST), TOKENS_MOST);
}

// Takes the tokens of all events since the last call from the bucket, and fills
// the bucket.
static void settle(struct Exceptions *exceptions, uint64_t ticks)
{
    uint64_t events = Counter_get(&exceptions->events);
    double s = (double)(int64_t)(ticks - exceptions->filled) / exceptions->hz;
    double most = full(exceptions);

    exceptions->tokens -= (double)(events - exceptions->paid);
    // When tracing begins, the bucket may have more tokens than a full one.
    if (exceptions->tokens < most)
        exceptions->tokens =
            fmin(exceptions->tokens + fmax(s, 0) * exceptions->income, most);
    exceptions->paid = events;
    exceptions->filled = ticks;
}

// Sets the event at which the bucket is empty, or at which the last window
// before a gap begins.
static void go_on(struct Exceptions *exceptions)
{
    double tokens = fmax(exceptions->tokens, 0);
    double last = LAST * full(exceptions);

    Counter_set(&exceptions->phase, EXCEPTIONS_ON);
    exceptions->stop_events =
        isinf(exceptions->income)
            ? UINT64_MAX
            : exceptions->paid +
                  (uint64_t)(tokens > 1.5 * last ? tokens - last : tokens);
}

void Exceptions_begin(struct Exceptions *exceptions, uint64_t ticks,
                      uint64_t cpu_ns, double hz, double pause_s)
{
    exceptions->hz = hz;
    exceptions->pause_s = pause_s;
    exceptions->tokens = TOKENS_MOST;
    exceptions->filled = ticks;
    open_window(exceptions, cpu_ns, 0);
    Counter_set(&exceptions->phase, EXCEPTIONS_ON);
    Exceptions_limit(exceptions, ticks, INFINITY, 1);
}

void Exceptions_go_on(struct Exceptions *exceptions, uint64_t ticks)
{
    settle(exceptions, ticks);
    exceptions->tokens = full(exceptions);
    go_on(exceptions);
}

void Exceptions_stay_off(struct Exceptions *exceptions)
{
    double pending = Counter_get_double(&exceptions->pending);

    begin_change(exceptions);
    Counter_set(&exceptions->cpu_ns,
                Counter_get(&exceptions->cpu_ns) - (uint64_t)pending);
    Counter_set_double(&exceptions->pending, 0);
    Counter_set(&exceptions->phase, EXCEPTIONS_OFF);
    exceptions->stop_events = UINT64_MAX;
    end_change(exceptions);
}

void Exceptions_lose(struct Exceptions *exceptions)
{
    Counter_set(&exceptions->phase, EXCEPTIONS_UNKNOWN);
    exceptions->stop_events = UINT64_MAX;
}

void Exceptions_limit(struct Exceptions *exceptions, uint64_t ticks,
                      double rate, double factor)
{
    settle(exceptions, ticks); // Earlier events cost what they cost until now.
    exceptions->income = PART * rate / (EXCEPTION_S * factor);
    if (Counter_get(&exceptions->phase) == EXCEPTIONS_ON)
        go_on(exceptions);
}

void Exceptions_note_slow(struct Exceptions *exceptions)
{
    Counter_add(&exceptions->events, SLOW_EVENTS);
}

bool Exceptions_end(struct Exceptions *exceptions, uint64_t ticks,
                    uint64_t cpu_ns)
{
    bool ends;

    if (Counter_get(&exceptions->phase) != EXCEPTIONS_ON)
        return false;
    settle(exceptions, ticks);
    ends = exceptions->tokens <= LAST / 2 * full(exceptions);
    begin_change(exceptions);
    close_window(exceptions, cpu_ns);
    if (ends) {
        exceptions->stop_events = UINT64_MAX;
        exceptions->off = ticks;
        Counter_set(&exceptions->missed, 1);
        Counter_set(&exceptions->phase, EXCEPTIONS_OFF);
    } else {
        go_on(exceptions);
    }
    end_change(exceptions);
    return ends;
}

bool Exceptions_look(struct Exceptions *exceptions, uint64_t ticks,
                     uint64_t cpu_ns)
{
    uint64_t phase = Counter_get(&exceptions->phase);
    double off_s = (double)(ticks - exceptions->off) / exceptions->hz;
    // The first gap is short, because only a window after it shows whether the
    // burst that caused it goes on.
    bool first = !(Counter_get_double(&exceptions->gap_squares) > 0);
    double wanted = full(exceptions) * (first ? 1.5 * LAST : 1);

    if (phase == EXCEPTIONS_UNKNOWN)
        return false;
    settle(exceptions, ticks);
    if (phase == EXCEPTIONS_ON) {
        if (cpu_since(exceptions, cpu_ns) >= WINDOW_NS) {
            begin_change(exceptions);
            close_window(exceptions, cpu_ns);
            end_change(exceptions);
        }
        go_on(exceptions);
        return false;
    }
    if (!isinf(exceptions->income) &&
        ((off_s < exceptions->pause_s && !first) ||
         exceptions->tokens < wanted))
        return false;
    begin_change(exceptions);
    open_window(exceptions, cpu_ns, cpu_since(exceptions, cpu_ns));
    exceptions->gaps += ticks - exceptions->off;
    exceptions->off = ticks;
    go_on(exceptions);
    end_change(exceptions);
    return true;
}
