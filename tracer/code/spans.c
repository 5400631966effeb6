// SPDX-License-Identifier: MIT
#include "tracer/code/spans.h"

#include <math.h>

// A dark time is a time in which the function had no hooks. If the span after a
// dark time is longer than LONG times the dark time, the dark time is settled
// (Spans_settle).
#define LONG 4.0
// Number of seconds. A span that is longer than LONGEST_S weighs as much as a
// span of LONGEST_S.
#define LONGEST_S 4.0
// Weight of a function's first span in all sums. Most first spans are in the
// slice with which tracing begins, when a service has no requests yet. This
// slice can be longer than the next one, so the weight is multiplied by FIRST
// again when the second span closes.
#define FIRST 0.1
// Calls can come in groups. This number of calls in a group is assumed until
// spans show the number.
#define CLUMP 4.0
// Change of a call rate from one span to the next, as a fraction of the rate.
// The value is assumed until spans show the change.
#define DRIFT 0.2

void Spans_set_arming(struct Code *code, enum Arming arming)
{
    if (Code_arming(code) == arming)
        return;
    code->spans.arming = (uint8_t)arming;
    Code_touch(code);
}

// Returns true if calls are missed now and their number can be estimated from
// spans. At the end of its slice a function keeps its hooks until its next
// call, and no call is missed until then.
static bool misses(const struct Code *code)
{
    return code->hot.dark && Counter_get(&code->spans.closed_ticks) &&
           Code_arming(code) != ARMED_HOT;
}

void Spans_open(struct Code *code, uint64_t ticks)
{
    struct CodeSpans *spans = &code->spans;
    uint64_t closed = Counter_get(&spans->closed_ticks);

    spans->ended = false;
    if (Counter_get(&spans->open_ticks))
        return;
    if (misses(code) && ticks > closed) {
        spans->pending = spans->pending + (double)(ticks - closed);
        // Calls that were still counted after `closed` are not missed calls.
        spans->missed =
            spans->missed -
            (double)(Code_calls(code) - Counter_get(&spans->closed_calls));
    }
    Counter_set(&spans->closed_ticks, 0);
    Counter_set(&spans->open_calls, Code_calls(code));
    Counter_set(&spans->open_ticks, ticks);
    Code_touch(code);
}

static void end(struct Code *code, uint64_t ticks)
{
    struct CodeSpans *spans = &code->spans;

    Counter_set(&spans->open_ticks, 0);
    Counter_set(&spans->closed_calls, Code_calls(code));
    Counter_set(&spans->closed_ticks, ticks);
    Code_touch(code);
}

void Spans_begin_dark(struct Code *code, uint64_t ticks)
{
    end(code, ticks);
}

void Spans_close(struct Code *code, uint64_t ticks, double hz)
{
    struct CodeSpans *spans = &code->spans;
    uint64_t open = Counter_get(&spans->open_ticks);
    double kept = spans->count < 1 ? FIRST : SPANS_KEPT;
    double calls, took, weight;

    if (!open || ticks <= open)
        return;
    took = (double)(ticks - open);
    calls = (double)(Code_calls(code) - Counter_get(&spans->open_calls));
    weight = fmin(1, LONGEST_S * hz / took) * (spans->count > 0 ? 1 : FIRST);
    spans->squares = kept * spans->squares + weight * calls * calls / took;
    spans->calls = kept * spans->calls + weight * calls;
    spans->ticks = kept * spans->ticks + weight * took;
    spans->count = spans->count > 0 ? kept * spans->count + 1 : FIRST;
    spans->missed =
        spans->missed + spans->calls / spans->ticks * spans->pending;
    spans->pending = 0;
    end(code, ticks);
}

void Spans_settle(struct Code *code, uint64_t ticks, double hz)
{
    double pending = code->spans.pending;
    uint64_t open = Counter_get(&code->spans.open_ticks);

    if (!(pending > 0) || !open || ticks <= open ||
        (double)(ticks - open) < LONG * pending)
        return;
    Spans_close(code, ticks, hz);
    Spans_open(code, ticks);
}

bool Spans_drop(struct Code *code, uint64_t ticks, bool sampled)
{
    struct CodeSpans *spans = &code->spans;
    bool unknown = sampled && spans->pending > 0 && !(spans->ticks > 0);

    if (unknown)
        spans->pending = spans->missed = 0;
    Spans_set_arming(code, ARMED_HOT);
    spans->was_hot = true;
    end(code, ticks);
    return unknown;
}

// Returns the number of calls in all spans of the code, including the open
// span. Stores the sum of the lengths of all spans in *ticks.
static double sum(const struct Code *code, uint64_t now, double *ticks)
{
    const struct CodeSpans *spans = &code->spans;
    uint64_t open = Counter_get(&spans->open_ticks);
    double calls = spans->calls;

    *ticks = spans->ticks;
    if (!open || now <= open)
        return calls;
    *ticks += (double)(now - open);
    return calls + (double)(Code_calls(code) - Counter_get(&spans->open_calls));
}

double Spans_rate(const struct Code *code, uint64_t ticks, double hz)
{
    double took, calls = sum(code, ticks, &took);

    return took > 0 ? calls * hz / took : NAN;
}

// Spans_clump adds an assumed span, which weighs as much as one real span. In
// the assumed span several calls come together, and the rate has changed. The
// error therefore stays large if there is only one real span, even if it has
// many calls.
double Spans_clump(double calls, double ticks, double squares, double count)
{
    double rate = calls / ticks;
    double chi = (squares - calls * rate) / rate;
    double assumed;

    // Weights that decay for a long time never reach 0.
    if (!(calls > SPANS_NO_CALLS))
        return CLUMP;
    assumed = CLUMP + DRIFT * DRIFT * calls / count;
    return fmax((assumed + fmax(chi, 0)) / count, 1);
}

static double clump(const struct CodeSpans *spans)
{
    return Spans_clump(spans->calls, spans->ticks, spans->squares,
                       fmax(spans->count, 1));
}

double Spans_rate_error(const struct Code *code, uint64_t ticks, double hz)
{
    double took, calls = sum(code, ticks, &took);

    return took > 0 ? sqrt(clump(&code->spans) * (calls + 1)) * hz / took : NAN;
}

double Spans_missed(const struct Code *code, uint64_t ticks, double hz)
{
    const struct CodeSpans *spans = &code->spans;
    uint64_t closed = Counter_get(&spans->closed_ticks);
    double dark = spans->pending, seen = 0, rate;

    if (misses(code) && ticks > closed) {
        dark += (double)(ticks - closed);
        seen = (double)(Code_calls(code) - Counter_get(&spans->closed_calls));
    }
    if (!(dark > 0))
        return fmax(spans->missed, 0);
    rate = Spans_rate(code, ticks, hz);
    return isnan(rate) ? NAN : fmax(spans->missed + rate * dark / hz - seen, 0);
}

double Spans_missed_rate(const struct Code *code, uint64_t ticks, double hz)
{
    return misses(code) ? Spans_rate(code, ticks, hz) : 0;
}

bool Spans_is_settled(const struct Code *code)
{
    return !Counter_get(&code->spans.open_ticks) ||
           (!code->hot.dark && !(code->spans.pending > 0));
}
