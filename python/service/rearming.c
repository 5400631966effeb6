// SPDX-License-Identifier: MIT
// See rearming.h.
#include "python/service/rearming.h"
#include "python/hooks/adopt.h"
#include "tracer/code/arming.h"
#include "tracer/code/spans.h"

#include <math.h>

// Of a slice: its hits are so many times the threshold at least; a hot function
// has as many in one slice of ASKED, and in the others HOT_HITS for its mean.
#define SLICE_HITS 4
#define ASKED 4
#define HOT_HITS 64
#define HOT_JUMPS 8   // so many of the hottest have their jumps armed.
#define LOOKED_S 30.0 // Jumps stay armed so long after a viewer has looked.
#define LEAST_S 2e-3  // between two holds.
#define READ_S 0.05   // between two readings of the slice's cost.
#define HOLD_S 500e-6 // a hold in which functions are armed or settled

static uint64_t now(const struct Rearming *rearming)
{
    return Clock_read(&rearming->state->engine.clock);
}

static double hz(const struct Rearming *rearming)
{
    return Clock_hz(&rearming->state->engine.clock);
}

static bool wants_jumps(const struct Rearming *rearming,
                        const struct Code *code)
{
    unsigned i;

    if (code->plan.jumps_until > now(rearming))
        return true;
    for (i = 0; i < rearming->hottest->count && i < HOT_JUMPS; i++)
        if (rearming->hottest->ids[i] == code->hot.id)
            return true;
    return false;
}

// --- Requests --------------------------------------------------------------

// A viewer looks at the function's code: at first, and every now and then.
static void note_looked(struct Rearming *rearming, struct Code *code)
{
    bool looked = code->plan.jumps_until > now(rearming);

    code->plan.jumps_until =
        now(rearming) + (uint64_t)(LOOKED_S * hz(rearming));
    if (looked || (code->cold.jumps && !code->hot.dark))
        return;
    Adopt_rearm(rearming->state, code, Adopt_hits(rearming->state), true);
}

// With its dark callees, or its own time would stay unknown.
static void rearm_with_callees(struct Rearming *rearming, struct Code *code)
{
    struct State *state = rearming->state;

    Adopt_rearm(state, code, Adopt_hits(state), wants_jumps(rearming, code));
    Counting_set_between(&state->engine.counting, false); // it is timed
    Counting_begin(&state->engine.counting);
    Code_set_between(code, false);
    Spans_set_arming(code, ARMED_NEW); // it stays armed until the next choice
    Counting_end(&state->engine.counting);
    for (uint32_t i = 0; i < code->links.callee_count; i++) {
        struct Code *callee =
            Registry_by_id(state->engine.registry, code->links.callees[i]);

        if (callee && callee->hot.dark)
            Adopt_rearm(state, callee, Adopt_hits(rearming->state), false);
    }
}

static void rearm_requested(struct Rearming *rearming,
                            const struct RearmRequest *request)
{
    struct Code *code =
        Registry_by_id(rearming->state->engine.registry, request->id);

    if (code && !request->jumps && !code->hot.exact)
        rearm_with_callees(rearming, code);
    else if (code && request->jumps && rearming->control->held)
        note_looked(rearming, code);
}

// Without a budget there are no slices: all in one go, a hold at a time.
static void rearm_all(struct Rearming *rearming, uint64_t deadline)
{
    struct State *state = rearming->state;

    while (state->slice_next && now(rearming) < deadline) {
        struct Code *code = state->slice_next;

        state->slice_next = Registry_next(code);
        if (!code->hot.exact)
            Adopt_rearm(state, code, Adopt_hits(state), true);
    }
}

void Rearming_requests(struct Rearming *rearming, uint64_t deadline)
{
    struct State *state = rearming->state;
    struct RearmRequest request;

    while (now(rearming) < deadline &&
           Rearm_pop(&state->engine.session->rearm, &request)) {
        if (request.id == 0 && rearming->control->held)
            Slices_hurry(&rearming->slices);
        else if (request.id == 0 && !state->slice_next)
            state->slice_next = Registry_first(state->engine.registry);
        else if (request.id)
            rearm_requested(rearming, &request);
    }
    if (!rearming->control->held)
        rearm_all(rearming, deadline);
}

// --- The choice ------------------------------------------------------------

static struct SlicesReading reading_of(const struct Rearming *rearming,
                                       double now_s)
{
    return (struct SlicesReading){
        .now_s = now_s,
        .spent_s = rearming->control->spent,
        .rate = rearming->control->hooks_rate,
        .overdrawn = rearming->control->overdrawn,
    };
}

static void choose(struct Rearming *rearming, bool sliced)
{
    const struct Engine *engine = &rearming->state->engine;
    const struct ChoiceReading reading = {
        .registry = engine->registry,
        .ticks = now(rearming),
        .hz = hz(rearming),
        .call_s = rearming->call_s,
        .rate = rearming->control->hooks_rate,
        .sliced = sliced,
    };

    Choice_make(&rearming->choice, &reading); // without memory: a part of it
    rearming->chosen = sliced;
}

bool Rearming_decide(struct Rearming *rearming, double now_s, bool ranks)
{
    const struct SlicesReading reading = reading_of(rearming, now_s);
    enum SlicePhase phase;

    if (!rearming->control->held || !rearming->begun)
        return false;
    phase = Slices_step(&rearming->slices, &reading);
    if (phase == SLICE_ENDS && !rearming->chosen) {
        choose(rearming, true);
    } else if (phase == SLICE_RESTS && ranks) {
        choose(rearming, false);
    }
    return phase == SLICE_BEGINS || phase == SLICE_ENDS ||
           rearming->choice.next < rearming->choice.count;
}

// It stays armed from now on, or its slice is over. With the counting lock.
static void settle(struct Rearming *rearming, const struct ChoiceItem *item)
{
    struct Code *code =
        Registry_by_id(rearming->state->engine.registry, item->id);

    if (!code || code->hot.stop_at == CODE_NEVER ||
        (code->hot.dark && Code_arming(code) == ARMED_HOT))
        return;
    if (rearming->slices.phase == SLICE_ENDS)
        Code_set_between(code, rearming->choice.left_out);
    if (!item->stays) {
        Spans_close(code, now(rearming), hz(rearming));
        Spans_set_arming(code, ARMED_SLICES);
        if (!code->hot.dark)
            Code_end_slice(code);
        return;
    }
    Spans_settle(code, now(rearming), hz(rearming));
    if (!code->hot.dark && (Code_arming(code) != ARMED_ALWAYS ||
                            rearming->slices.phase == SLICE_ENDS)) {
        Spans_set_arming(code, ARMED_ALWAYS);
        code->spans.ended = false;
        Code_extend(code, Adopt_hits(rearming->state), now(rearming));
    }
}

// true: there is more of it.
static bool carry_out(struct Rearming *rearming, uint64_t deadline)
{
    struct Counting *counting = &rearming->state->engine.counting;
    const struct ChoiceItem *item;

    do {
        item = Choice_pop(&rearming->choice);
        if (item) {
            Counting_begin(counting);
            settle(rearming, item);
            Counting_end(counting);
        }
    } while (item && now(rearming) < deadline);
    return item;
}

// --- A slice ---------------------------------------------------------------

// Code that was called once may never be called again.
static bool is_worth(const struct Code *code)
{
    return Code_was_seen(code) && (!code->cold.unarmed || code->cold.again ||
                                   Counter_get(&code->share.run_samples));
}

// Hits that a function has in a slice: hot functions may spend half of a
// slice's cost before they are dark.
static uint64_t slice_hits(const struct Rearming *rearming)
{
    double s = Slices_means(rearming->control->hooks_rate) / 2;
    double hits = s / (rearming->call_s * (rearming->hot + 1));

    return (uint64_t)fmax(hits,
                          SLICE_HITS * (double)Adopt_hits(rearming->state));
}

static void begin_one(struct Rearming *rearming, struct Code *code)
{
    bool hot = Code_arming(code) == ARMED_HOT;
    bool jumps = wants_jumps(rearming, code), stays;
    uint64_t most = rearming->hits;
    struct Counting *counting = &rearming->state->engine.counting;

    if (!is_worth(code))
        return;
    rearming->hot += hot;
    // Is it hot still? Each is asked now and then.
    if (hot && !rearming->slices.all &&
        (rearming->slices.count + code->hot.id) % ASKED)
        most = HOT_HITS;
    Counting_begin(counting);
    Code_set_between(code, false);
    stays = !code->hot.dark && jumps == code->cold.jumps;
    if (stays) { // its hooks are in still, since it was not called
        Spans_open(code, now(rearming));
        Code_extend(code, most, now(rearming));
    }
    Counting_end(counting);
    if (!stays)
        Adopt_rearm(rearming->state, code, most, jumps);
}

// Arms all functions, a hold at a time. true: there is more of it.
static bool begin(struct Rearming *rearming, uint64_t deadline)
{
    struct State *state = rearming->state;

    if (!rearming->walks) {
        Counting_set_between(&state->engine.counting, false);
        state->slice_next = Registry_first(state->engine.registry);
        rearming->hits = slice_hits(rearming);
        rearming->hot = 0;
    }
    rearming->walks = true;
    while (state->slice_next && now(rearming) < deadline) {
        struct Code *code = state->slice_next;

        state->slice_next = Registry_next(code);
        begin_one(rearming, code);
    }
    rearming->walks = state->slice_next;
    return rearming->walks;
}

void Rearming_begin(struct Rearming *rearming, double now_s)
{
    Slices_init(&rearming->slices, now_s);
    rearming->walks = rearming->chosen = false;
    rearming->begun = true;
}

bool Rearming_step(struct Rearming *rearming, double now_s, uint64_t deadline)
{
    const struct SlicesReading reading = reading_of(rearming, now_s);

    if (!rearming->control->held)
        return rearming->state->slice_next;
    switch (rearming->slices.phase) {
    case SLICE_BEGINS:
        if (begin(rearming, deadline))
            return true;
        Slices_armed(&rearming->slices, now_s);
        rearming->chosen = false;
        return false;
    case SLICE_COUNTS:
        return false;
    case SLICE_ENDS:
        if (!rearming->chosen || carry_out(rearming, deadline))
            return true;
        Counting_set_between(&rearming->state->engine.counting,
                             rearming->choice.left_out);
        Slices_ended(&rearming->slices, &reading);
        return false;
    default:
        return carry_out(rearming, deadline);
    }
}

double Rearming_hold_s(const struct Rearming *rearming, double s)
{
    return rearming->begun && rearming->slices.phase != SLICE_COUNTS &&
                   rearming->slices.phase != SLICE_RESTS
               ? HOLD_S
               : s;
}

double Rearming_pause(const struct Rearming *rearming, double now_s)
{
    switch (rearming->control->held ? rearming->slices.phase : SLICE_RESTS) {
    case SLICE_RESTS:
        return INFINITY;
    case SLICE_COUNTS: // what it costs is read meanwhile
        return fmin(fmax(rearming->slices.ends_s - now_s, LEAST_S), READ_S);
    default:
        return LEAST_S;
    }
}

void Rearming_release(struct Rearming *rearming)
{
    Choice_release(&rearming->choice);
}
