// SPDX-License-Identifier: MIT
// A span begins when the function is armed again, and ends with the function's
// first call after the slice. The beginning of a span does not depend on the
// function's calls. The function's rate is therefore the number of calls in all
// spans divided by the length of all spans.
#include "formats/armed_spans.h"

#include "ipc/base/array.h"
#include <math.h>

// The error of a rate is computed from the differences between the spans of a
// function. With fewer than LEAST_SPANS spans, the error is unknown.
#define LEAST_SPANS 3
// A function is hot if it makes HOT_CALLS calls in a span shorter than SLICE_S
// seconds. A hot function gets no rate, because its calls have ended the span.
#define HOT_CALLS 64u
#define SLICE_S 0.09

// Returns the number of entries of the list `all` that are older than the call.
// A call that ends a span belongs to the span that it ends.
static size_t entries_before(const struct Darkness *all, size_t count,
                             uint64_t ticks)
{
    return ARRAY_BOUND(count,
                       all[middle].ticks < ticks ||
                           (all[middle].ticks == ticks && !all[middle].dark));
}

void ArmedSpans_add(struct ArmedSpans *spans, const struct Bytes *seen,
                    uint32_t id, uint64_t ticks)
{
    size_t count;
    const struct Darkness *all = Darkness_of(seen, id, &count);
    struct Sum *calls;

    if (!count || (count == 1 && all[0].dark))
        return;
    calls =
        SumTable_get(&spans->calls,
                     Sum_key(id, (uint32_t)entries_before(all, count, ticks)));
    if (calls)
        calls->calls++;
    else
        spans->full = true;
}

struct Walk {
    // The function's calls, sorted by the number of the span.
    const struct Sum *calls;
    size_t calls_count, next;
    // Sums over all spans of the function, in which t is the length of a span
    // in ticks and c is the number of calls in the span.
    double ticks, count; // Sum of t, and sum of c.
    double tt, tc, cc;   // Sums of t * t, of t * c, and of c * c.
    unsigned spans;
    bool hot;
};

// Returns the number of calls in the span with the index `span`. The caller of
// calls_in must ask for spans in the order of their indices.
static double calls_in(struct Walk *walk, size_t span)
{
    while (walk->next < walk->calls_count &&
           Sum_second(&walk->calls[walk->next]) < span)
        walk->next++;
    return walk->next < walk->calls_count &&
                   Sum_second(&walk->calls[walk->next]) == span
               ? (double)walk->calls[walk->next].calls
               : 0;
}

static void add_span(struct Walk *walk, size_t span, double ticks, double hz)
{
    double calls = calls_in(walk, span);

    walk->hot |= calls >= HOT_CALLS && ticks < SLICE_S * hz;
    walk->spans++;
    walk->ticks += ticks;
    walk->count += calls;
    walk->tt += ticks * ticks;
    walk->tc += ticks * calls;
    walk->cc += calls * calls;
}

static uint64_t clip(uint64_t ticks, const struct ArmedStretch *stretch)
{
    return ticks < stretch->from ? stretch->from
           : ticks > stretch->to ? stretch->to
                                 : ticks;
}

struct ArmedRate ArmedSpans_rate(const struct ArmedSpans *spans,
                                 const struct Bytes *seen, uint32_t id,
                                 const struct ArmedStretch *stretch)
{
    struct ArmedRate rate = {.rate = NAN, .error = NAN};
    struct Walk walk = {0};
    size_t i, count;
    const struct Darkness *all = Darkness_of(seen, id, &count);
    double squares;

    walk.calls = SumTable_of(&spans->calls, id, &walk.calls_count);
    for (i = 0; i <= count; i++) {
        uint64_t begin = i ? all[i - 1].ticks : 0;
        uint64_t end = i < count ? all[i].ticks : UINT64_MAX;
        bool dark = i ? all[i - 1].dark : count && !all[0].dark;
        double ticks = (double)(clip(end, stretch) - clip(begin, stretch));

        if (dark)
            rate.dark_ticks += ticks;
        else if (i && begin >= stretch->from && begin < stretch->to)
            add_span(&walk, i, ticks, stretch->hz);
    }
    if (spans->full || walk.hot || walk.spans < LEAST_SPANS ||
        !(walk.ticks > 0))
        return rate;
    rate.rate = walk.count / walk.ticks;
    squares =
        walk.cc - 2 * rate.rate * walk.tc + rate.rate * rate.rate * walk.tt;
    rate.error =
        sqrt(fmax(squares, 0) * walk.spans / (walk.spans - 1.0)) / walk.ticks;
    return rate;
}
