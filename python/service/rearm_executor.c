// SPDX-License-Identifier: MIT
#include "python/service/rearm_executor.h"
#include "python/hooks/adopt.h"
#include "tracer/code/arming.h"
#include "tracer/code/c_calls.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"

#include <math.h>

// The number of hits that a function may have in a slice is at least SLICE_HITS
// times the threshold. A hot function may have this number in one of ASKED
// slices, and in every slice if its samples predict that it will not need them
// all. In the other slices a hot function has the hits that HOT_PART of the
// slice's budget pays for, and at least HOT_HITS. HOT_HITS are enough to
// measure the mean time of a call.
#define SLICE_HITS 4
#define ASKED 4
#define HOT_HITS 64
#define HOT_PART 0.5
// A hot function may need this multiple of the hits that its samples predict.
#define UNCERTAIN 2.0
#define HOT_JUMPS 8   // Number of functions whose jumps are armed.
#define LOOKED_S 30.0 // Seconds for which jumps stay armed after a request.
#define LEAST_S 2e-3  // Least seconds between two holds.
#define READ_S 0.05   // Seconds between two readings of the slice's cost.
// Length in seconds of a hold that arms functions or ends their slice.
#define HOLD_S 500e-6

static uint64_t now(const struct RearmExecutor *executor)
{
    return Clock_read(&executor->state->engine.clock);
}

static double hz(const struct RearmExecutor *executor)
{
    return Clock_hz(&executor->state->engine.clock);
}

static bool wants_jumps(const struct RearmExecutor *executor,
                        const struct Code *code)
{
    unsigned i;

    if (code->plan.jumps_until > now(executor))
        return true;
    for (i = 0; i < executor->hottest->count && i < HOT_JUMPS; i++)
        if (executor->hottest->ids[i] == code->hot.id)
            return true;
    return false;
}

// --- Requests --------------------------------------------------------------

// Handles the request of a viewer that shows the code of a function. The viewer
// repeats the request from time to time.
static void note_looked(struct RearmExecutor *executor, struct Code *code)
{
    bool looked = code->plan.jumps_until > now(executor);

    code->plan.jumps_until =
        now(executor) + (uint64_t)(LOOKED_S * hz(executor));
    if (looked || (code->cold.jumps && !code->hot.dark))
        return;
    Adopt_rearm(executor->state, code, Adopt_hits(executor->state), true);
}

// Arms a function and its dark callees. If a callee stayed dark, the function's
// own time would stay unknown.
static void rearm_with_callees(struct RearmExecutor *executor,
                               struct Code *code)
{
    struct State *state = executor->state;

    Adopt_rearm(state, code, Adopt_hits(state), wants_jumps(executor, code));
    // Between slices only functions without callees are timed. The function
    // that a viewer has asked for is to be timed, even if it has callees.
    Counting_set_between(&state->engine.counting, false);
    Counting_begin(&state->engine.counting);
    Code_set_between(code, false);
    // The function stays armed until the next choice of functions.
    Spans_set_arming(code, ARMED_NEW);
    Counting_end(&state->engine.counting);
    for (uint32_t i = 0; i < code->links.callee_count; i++) {
        struct Code *callee =
            Registry_by_id(state->engine.registry, code->links.callees[i]);

        if (callee && callee->hot.dark)
            Adopt_rearm(state, callee, Adopt_hits(executor->state), false);
    }
}

static void rearm_requested(struct RearmExecutor *executor,
                            const struct RearmRequest *request)
{
    struct Code *code =
        Registry_by_id(executor->state->engine.registry, request->id);

    if (!code || code->who.c_function) // A C function has no hooks.
        return;
    if (!request->jumps && !code->hot.exact)
        rearm_with_callees(executor, code);
    else if (request->jumps && executor->control->held)
        note_looked(executor, code);
}

// Arms all functions at a viewer's request if there is no budget. (With a
// budget, a slice arms all functions.) Each hold arms as many functions as time
// permits.
static void rearm_all(struct RearmExecutor *executor, uint64_t deadline)
{
    struct State *state = executor->state;

    while (state->slice_next && now(executor) < deadline) {
        struct Code *code = state->slice_next;

        state->slice_next = Registry_next(code);
        if (!code->hot.exact)
            Adopt_rearm(state, code, Adopt_hits(state), true);
    }
}

void RearmExecutor_requests(struct RearmExecutor *executor, uint64_t deadline)
{
    struct State *state = executor->state;
    struct RearmRequest request;

    while (now(executor) < deadline &&
           RearmQueue_pop(&state->engine.session->rearm, &request)) {
        if (request.id == 0 && executor->control->held)
            Slices_hurry(&executor->slices);
        else if (request.id == 0 && !state->slice_next)
            state->slice_next = Registry_first(state->engine.registry);
        else if (request.id)
            rearm_requested(executor, &request);
    }
    if (!executor->control->held)
        rearm_all(executor, deadline);
}

// --- The choice ------------------------------------------------------------

static struct SlicesReading reading_of(const struct RearmExecutor *executor,
                                       double now_s)
{
    return (struct SlicesReading){
        .now_s = now_s,
        .spent_s = executor->control->spent,
        .hooks_s = executor->control->hooks,
        .stays = executor->choice.stays_s,
        .rate = executor->control->hooks_rate,
        .overdrawn = executor->control->overdrawn,
        .burst = executor->control->burst,
        .codes = executor->control->newest_code,
    };
}

static void choose(struct RearmExecutor *executor, bool sliced)
{
    const struct Engine *engine = &executor->state->engine;
    const struct ChoiceReading reading = {
        .registry = engine->registry,
        .ticks = now(executor),
        .hz = hz(executor),
        .call_s = executor->call_s,
        .rate = executor->control->hooks_rate,
        .sliced = sliced,
    };

    if (sliced) // settle() fills `own` again.
        executor->own_count = executor->own_armed = 0;
    // If memory is out, the choice lacks some functions.
    Choice_make(&executor->choice, &reading);
    executor->chosen = sliced;
}

bool RearmExecutor_decide(struct RearmExecutor *executor, double now_s,
                          bool ranks)
{
    const struct SlicesReading reading = reading_of(executor, now_s);
    enum SlicePhase phase;

    if (!executor->control->held || !executor->begun)
        return false;
    phase = Slices_step(&executor->slices, &reading);
    if (phase == SLICE_ENDS && !executor->chosen) {
        choose(executor, true);
    } else if (phase == SLICE_RESTS && ranks) {
        choose(executor, false);
    }
    return phase == SLICE_BEGINS || phase == SLICE_ENDS ||
           executor->choice.next < executor->choice.count;
}

static void note_own(struct RearmExecutor *executor, const struct Code *code)
{
    unsigned i = 0;

    while (i < executor->own_count && executor->own[i] != code->hot.id)
        i++;
    if (i == executor->own_count && i < REARM_OWN)
        executor->own[executor->own_count++] = code->hot.id;
}

// Ends the measurement of a function in a slice. The caller holds the counting
// lock.
static void close_one(struct RearmExecutor *executor, struct Code *code)
{
    CCalls_close(code, Counter_get(&code->hot.entries), now(executor));
    Spans_close(code, now(executor), hz(executor));
    Spans_set_arming(code, ARMED_SLICES);
    if (!code->hot.dark)
        Code_end_slice(code);
}

// Carries out the choice for one function, which stays armed or is armed only
// in slices. The caller holds the counting lock.
static void settle(struct RearmExecutor *executor,
                   const struct ChoiceItem *item)
{
    struct Code *code =
        Registry_by_id(executor->state->engine.registry, item->id);

    if (!code || code->hot.stop_at == CODE_NEVER ||
        (code->hot.dark && Code_arming(code) == ARMED_HOT))
        return;
    if (executor->slices.phase == SLICE_ENDS)
        Code_set_between(code, executor->choice.left_out);
    if (!item->stays) {
        close_one(executor, code);
        if (code->who.own)
            note_own(executor, code);
        return;
    }
    CCalls_close(code, Counter_get(&code->hot.entries), now(executor));
    Spans_settle(code, now(executor), hz(executor));
    if (!code->hot.dark && (Code_arming(code) != ARMED_ALWAYS ||
                            executor->slices.phase == SLICE_ENDS)) {
        Spans_set_arming(code, ARMED_ALWAYS);
        code->spans.ended = false;
        Code_extend(code, Adopt_hits(executor->state), now(executor));
    }
}

// Carries out the choice for the next functions. Returns true if functions are
// left at the deadline.
static bool carry_out(struct RearmExecutor *executor, uint64_t deadline)
{
    struct Counting *counting = &executor->state->engine.counting;
    const struct ChoiceItem *item;

    do {
        item = Choice_pop(&executor->choice);
        if (item) {
            Counting_begin(counting);
            settle(executor, item);
            Counting_end(counting);
        }
    } while (item && now(executor) < deadline);
    return item;
}

// --- A slice ---------------------------------------------------------------

// Returns true if arming the code may be useful. Code that was called only once
// is not worth arming, because it may never be called again.
static bool is_worth(const struct Code *code)
{
    return Code_was_seen(code) && !code->who.c_function &&
           (!code->cold.unarmed || code->cold.again ||
            Counter_get(&code->share.run_samples));
}

// Computes how many hits functions may have in the slice that begins.
static void set_hits(struct RearmExecutor *executor)
{
    double s = HOT_PART * Slices_means(executor->control->hooks_rate);
    double each = s / (executor->call_s * (executor->hot + 1));

    executor->hot_hits = (uint64_t)fmax(each, HOT_HITS);
    executor->hits =
        (uint64_t)fmax(each, SLICE_HITS * (double)Adopt_hits(executor->state));
}

// Returns true if the function's samples say that it will have fewer hits in
// this slice than any function may have.
static bool is_mild(const struct RearmExecutor *executor,
                    const struct Code *code)
{
    double calls;

    if (!executor->sampled.clock)
        return false;
    calls = Code_call_rate(code, &executor->sampled, hz(executor)) *
            executor->slices.length_s;
    return UNCERTAIN * calls < (double)executor->hits;
}

// Returns the hits that a function may have in the slice that begins.
static uint64_t hits_of(const struct RearmExecutor *executor,
                        const struct Code *code)
{
    if (Code_arming(code) != ARMED_HOT || executor->slices.all ||
        (executor->slices.count + code->hot.id) % ASKED == 0 ||
        is_mild(executor, code))
        return executor->hits;
    return executor->hot_hits;
}

// Arms the function for a slice, and begins to measure its time. `all` is true
// if the slice also arms the function's callees. A function with callees is
// timed only if its callees are armed, too.
static void arm_one(struct RearmExecutor *executor, struct Code *code,
                    uint64_t most, bool all)
{
    bool jumps = wants_jumps(executor, code), stays;
    struct Counting *counting = &executor->state->engine.counting;
    // Calls of C functions are counted in every second slice, because a call
    // in which they are counted is not timed.
    bool opens = !all || (executor->slices.count + code->hot.id) % 2;

    Counting_begin(counting);
    if (all)
        Code_set_between(code, false);
    stays = !code->hot.dark && jumps == code->cold.jumps;
    // If the function was not called since the last slice, it is still armed.
    if (stays) {
        Spans_open(code, now(executor));
        Code_extend(code, most, now(executor));
    }
    if (opens)
        CCalls_open(code, now(executor), C_CALLS_SLICE);
    Counting_end(counting);
    if (!stays)
        Adopt_rearm(executor->state, code, most, jumps);
    else if (opens && CCalls_of(code))
        Adopt_renew_calls(executor->state, code);
}

static void begin_one(struct RearmExecutor *executor, struct Code *code)
{
    if (!is_worth(code))
        return;
    executor->hot += Code_arming(code) == ARMED_HOT;
    arm_one(executor, code, hits_of(executor, code), true);
}

// Arms all functions for a slice. Each hold arms as many functions as time
// permits. Returns true if functions are left to be armed.
static bool begin(struct RearmExecutor *executor, uint64_t deadline)
{
    struct State *state = executor->state;

    if (!executor->walks) {
        Counting_set_between(&state->engine.counting, false);
        state->slice_next = Registry_first(state->engine.registry);
        set_hits(executor);
        executor->hot = 0;
    }
    executor->walks = true;
    while (state->slice_next && now(executor) < deadline) {
        struct Code *code = state->slice_next;

        state->slice_next = Registry_next(code);
        begin_one(executor, code);
    }
    executor->walks = state->slice_next;
    return executor->walks;
}

void RearmExecutor_begin(struct RearmExecutor *executor, double now_s)
{
    Slices_init(&executor->slices, now_s);
    executor->walks = executor->chosen = false;
    executor->own_count = executor->own_armed = 0;
    executor->sampled = (struct ShareTime){0};
    executor->begun = true;
}

bool RearmExecutor_step(struct RearmExecutor *executor, double now_s,
                        uint64_t deadline)
{
    const struct SlicesReading reading = reading_of(executor, now_s);

    if (!executor->control->held)
        return executor->state->slice_next;
    switch (executor->slices.phase) {
    case SLICE_BEGINS:
        if (begin(executor, deadline))
            return true;
        Slices_armed(&executor->slices, now_s);
        executor->chosen = false;
        return false;
    case SLICE_COUNTS:
        return false;
    case SLICE_ENDS:
        if (!executor->chosen || carry_out(executor, deadline))
            return true;
        Counting_set_between(&executor->state->engine.counting,
                             executor->choice.left_out);
        Slices_ended(&executor->slices, &reading);
        return false;
    default:
        return carry_out(executor, deadline);
    }
}

// Returns the function with index `i` in a slice of own functions, or NULL if
// this function is no longer armed in slices.
static struct Code *own_at(const struct RearmExecutor *executor, unsigned i)
{
    uint32_t id = executor->own[(executor->own_first + i) % executor->own_all];
    struct Code *code = Registry_by_id(executor->state->engine.registry, id);

    return code && Code_arming(code) == ARMED_SLICES ? code : NULL;
}

static void begin_own(struct RearmExecutor *executor)
{
    uint64_t deadline = now(executor) + (uint64_t)(HOLD_S * hz(executor));
    unsigned i;

    executor->own_all = executor->own_count;
    for (i = 0; i < executor->own_all && now(executor) < deadline; i++) {
        struct Code *code = own_at(executor, i);

        if (code)
            arm_one(executor, code, executor->hits, false);
    }
    executor->own_armed = i;
}

static void end_own(struct RearmExecutor *executor)
{
    struct Counting *counting = &executor->state->engine.counting;

    for (unsigned i = 0; i < executor->own_armed; i++) {
        struct Code *code = own_at(executor, i);

        if (!code)
            continue;
        Counting_begin(counting);
        close_one(executor, code);
        Counting_end(counting);
    }
    // A hold may be too short for all functions. The next slice begins with the
    // functions that were left out.
    executor->own_first += executor->own_armed;
    executor->own_armed = 0;
}

void RearmExecutor_step_own(struct RearmExecutor *executor, double now_s)
{
    const struct SlicesReading reading = reading_of(executor, now_s);

    if (!executor->control->held || !executor->begun ||
        executor->own_count == 0)
        return;
    switch (Slices_step_own(&executor->slices, &reading)) {
    case OWN_SLICE_BEGINS:
        begin_own(executor);
        return;
    case OWN_SLICE_ENDS:
        end_own(executor);
        return;
    default:
        return;
    }
}

double RearmExecutor_hold_s(const struct RearmExecutor *executor, double s)
{
    return executor->begun && executor->slices.phase != SLICE_COUNTS &&
                   executor->slices.phase != SLICE_RESTS
               ? HOLD_S
               : s;
}

double RearmExecutor_pause(const struct RearmExecutor *executor, double now_s)
{
    switch (executor->control->held ? executor->slices.phase : SLICE_RESTS) {
    case SLICE_RESTS:
        return INFINITY;
    case SLICE_COUNTS: // the governor wakes up to read the slice's cost
        return fmin(fmax(executor->slices.ends_s - now_s, LEAST_S), READ_S);
    default:
        return LEAST_S;
    }
}

void RearmExecutor_release(struct RearmExecutor *executor)
{
    Choice_release(&executor->choice);
}
