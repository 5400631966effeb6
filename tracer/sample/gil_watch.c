// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // for gettid
#include "tracer/sample/gil_watch.h"
#include "ipc/base/now.h"
#include "ipc/record.h"
#include "tracer/base/random.h"
#include "tracer/sample/stall_watch.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

// Ocular asks the kernel about at most ASKED_PER_S threads a second and
// ASKED_MOST threads in a step of the observer, because each answer takes about
// 20 us (docs/overhead.md). Ocular asks about fewer threads if the GIL is free
// for more than half of the time, because threads then seldom wait for it. To
// learn the kinds of waits, Ocular may always ask about ASKED_LEAST_PER_S
// threads a second.
#define ASKED_PER_S 16
#define ASKED_MOST 8
#define ASKED_LEAST_PER_S 4

static void credit(struct ShareValue *one, struct ShareValue *all,
                   const struct ShareTime *now, double ns)
{
    ShareValue_add(one, now, ns);
    ShareValue_add(all, now, ns);
}

// Credits the time for which a thread was off the CPU. `faded_ns` is the part
// of the time that is too old for the shares, so only the totals get
// `faded_ns`.
static void credit_off(struct GilThread *thread, struct ShareValue *one,
                       struct ShareValue *all, const struct ShareTime *now)
{
    credit(one, all, now, thread->off_ns);
    Counter_add(&one->total_ns, (uint64_t)thread->faded_ns);
    Counter_add(&all->total_ns, (uint64_t)thread->faded_ns);
    thread->off_ns = thread->faded_ns = 0;
}

void GilWatch_hold(struct GilWatch *watch, struct GilThread *thread,
                   const struct ShareTime *now, double cpu_ns)
{
    credit(&thread->held, &watch->held, now, cpu_ns);
}

// --- The longest hold --------------------------------------------------------

// If a thread has requested the GIL and the holder releases the GIL, CPython
// lets another thread take it. If another thread had requested the GIL at a
// first moment, and the number of switches is the same at a second moment, the
// holder did not release the GIL between these moments. The thread that
// requested the GIL had waited for the switch interval before the request.
static void log_stall(struct GilWatch *watch, struct SampledThread *thread,
                      const struct GilMoment *moment, double s)
{
    const struct SampledStack *stack = moment->stack;
    double hz = Clock_hz(watch->clock);
    double ago_s = (double)(Clock_read(watch->clock) - moment->ticks) / hz;
    struct Stall stall = {.began = moment->ticks - (uint64_t)(s * hz),
                          .ended = moment->ticks,
                          .at_s = Now_s(CLOCK_MONOTONIC) - ago_s - s,
                          .tid = thread->tid,
                          .has_gil = true};

    if (!thread->gil.stall)
        StallPlace_fill(&stall.place, watch->attribution, stack->frames,
                        stack->depth, stack->newest_id);
    thread->gil.stall =
        EventLoops_hold(watch->loops, thread->gil.stall, &stall);
}

void GilWatch_note(struct GilWatch *watch, struct SampledThread *thread,
                   const struct GilMoment *moment, bool requested)
{
    struct GilThread *own = &thread->gil;
    struct GilHold *longest = &watch->longest;
    double s;

    if (requested && (!own->holds || own->switches != moment->switches)) {
        own->switches = moment->switches;
        own->since = moment->ticks;
        own->proofs = 0;
        own->stall = 0;
    }
    own->holds = requested;
    if (!requested)
        return;
    own->proofs += moment->proofs;
    s = (double)(int64_t)(moment->ticks - own->since) / Clock_hz(watch->clock) +
        (double)*watch->gil->interval_us * 1e-6;
    if (watch->loops && own->proofs >= 2 &&
        s * watch->loops->hz >= (double)watch->loops->limit)
        log_stall(watch, thread, moment, s);
    // Only the sampler's thread changes `longest`, so the comparison needs no
    // lock.
    if (s <= longest->s)
        return;
    pthread_mutex_lock(&watch->threads->lock);
    longest->s = s;
    longest->depth = Attribution_places(watch->attribution, moment->stack,
                                        longest->frames, GIL_FRAMES);
    pthread_mutex_unlock(&watch->threads->lock);
}

// --- A step of the observer --------------------------------------------------

// Finds out whether the kernel says what a thread waits for, by asking about
// the calling thread.
static void probe(struct GilWatch *watch)
{
    const struct Gil *gil = watch->gil;
    struct GilQuestion own = {.tid = gettid(), .own_files = watch->own_files};

    Counter_set(&watch->readable, gil && gil->wait(gil, &own) > GIL_UNANSWERED);
    Counter_set(&watch->ready_unknown, own.ready_unknown);
}

void GilWatch_init(struct GilWatch *watch, const struct Gil *gil,
                   const struct Clock *clock)
{
    watch->gil = gil;
    watch->clock = clock;
    probe(watch);
}

static size_t place_of(const struct SampledThreadTable *table, uintptr_t state)
{
    for (size_t i = 0; state && i < table->count; i++)
        if (table->threads[i]->state == state)
            return i;
    return GIL_UNLISTED;
}

size_t GilWatch_begin(struct GilWatch *watch, uint64_t since_ns,
                      const struct ShareTime *now)
{
    double held = ShareValue_window(&watch->held, now);
    double per_s = fmax(ASKED_PER_S * fmin(1, 2 * held), ASKED_LEAST_PER_S);
    double asked = per_s * 1e-9 * (double)since_ns;
    size_t most = asked < 1            ? 1
                  : asked < ASKED_MOST ? (size_t)asked
                                       : ASKED_MOST;
    const struct Gil *gil = watch->gil;

    if (!gil)
        return GIL_UNLISTED;
    watch->stack = NULL;
    watch->expected = fmax((double)watch->needy, 0.8 * watch->expected);
    watch->stride = (uint32_t)fmax(ceil(watch->expected / (double)most), 1);
    watch->left = ASKED_MOST;
    watch->needy = 0;
    watch->waited_ns *= ShareTime_decay(watch->waited_age, now->age);
    watch->waited_age = now->age;
    if (!Counter_get(&watch->readable))
        probe(watch);
    watch->holder = Gil_holder(gil);
    watch->switches = Gil_switches(gil);
    watch->place = place_of(watch->threads->table, watch->holder);
    return watch->place;
}

// Returns true if another thread has requested the GIL from the thread with the
// PyThreadState `state`. The PyThreadState `state` may have been freed.
static bool is_requested(const struct GilWatch *watch, uintptr_t state)
{
    const struct Gil *gil = watch->gil;
    uintptr_t word;

    if (gil->request)
        return Gil_is_requested(gil, state);
    return Memory_read(watch->attribution->memory, state + gil->thread_request,
                       &word, sizeof word) &&
           word & gil->request_bit;
}

// Returns true if the kernel may now be asked about the thread, whose
// observation needs an answer. An observation that gets an answer also
// represents observations that get none.
static bool may_ask(struct GilWatch *watch, struct GilThread *own)
{
    watch->needy++;
    if (own->passed == own->stride) {
        own->stride = watch->stride;
        own->turn = Random_next(&watch->random) % own->stride;
        own->passed = 0;
    }
    if (own->passed != own->turn) {
        own->passed++;
        own->all_ns = 0;
        return false;
    }
    if (!watch->left) {
        // Many threads began to need answers at once, so a new stride is
        // needed, too.
        own->passed = own->stride;
        return false;
    }
    watch->left--;
    own->passed++;
    own->all_ns *= own->stride;
    return true;
}

// Subtracts the time for which the thread waited for a CPU, because this is no
// waiting for the GIL. The kernel's first answer also contains an unknown time
// before the thread's first observation. The whole first answer is therefore
// subtracted from the time off the CPU, but does not count as waiting for a
// CPU.
static void take_ready(struct GilWatch *watch, struct SampledThread *thread,
                       uint64_t ready_ns, const struct ShareTime *now)
{
    struct GilThread *own = &thread->gil;
    double ready =
        ready_ns > own->ready_ns ? (double)(ready_ns - own->ready_ns) : 0;
    double off = own->off_ns + own->faded_ns, starved = 0;
    // Unlike Ocular's sums, the kernel's numbers do not decay.
    double kept = off > 0 ? own->off_ns / off : 1;

    if (own->ready_ns) {
        own->starved_ns += ready * kept;
        ShareValue_add(&watch->starved, now, fmin(ready * kept, own->off_ns));
    }
    own->ready_ns = ready_ns;
    own->off_ns = fmax(own->off_ns - ready * kept, 0);
    own->faded_ns = fmax(own->faded_ns - ready * (1 - kept), 0);
    own->owed_ns += own->all_ns;
    own->all_ns = 0;
    if (own->since_ns > 0)
        starved = fmin(own->starved_ns / own->since_ns, 1);
    thread->stack.starved = starved;
    thread->stack.starved_ns = fmax(starved * own->owed_ns - own->told_ns, 0);
    own->told_ns += thread->stack.starved_ns;
}

// Stores in thread->stack for how long the thread has waited, if the kind of
// the wait is known.
static void tell_kind(struct SampledThread *thread)
{
    struct GilThread *own = &thread->gil;

    if (thread->stack.wait_kind == WAIT_UNKNOWN)
        return;
    thread->stack.kind_ns += fmax(own->all_ns + own->owed_ns - own->told_ns, 0);
    own->all_ns = own->owed_ns = own->told_ns = 0;
    own->since_ns = own->starved_ns = 0;
}

// Returns true if the kernel says why the thread is off the CPU. Sets *waits to
// true if the thread waits for the GIL, otherwise to false.
static bool find_reason(struct GilWatch *watch, struct SampledThread *thread,
                        const struct ShareTime *now, bool *waits)
{
    struct GilQuestion question = {.tid = thread->tid,
                                   .own_files = watch->own_files};
    enum GilWait reason = watch->gil->wait(watch->gil, &question);

    *waits = reason == GIL_WAITS;
    if (reason == GIL_UNREADABLE)
        Counter_set(&watch->readable, 0);
    if (reason <= GIL_UNANSWERED)
        return false;
    take_ready(watch, thread, question.ready_ns, now);
    if (reason == GIL_READY)
        question.kind = WAIT_UNKNOWN;
    else if (question.polls && watch->loops &&
             EventLoops_is_idle(watch->loops, thread->tid))
        question.kind = WAITS_IDLE;
    // If the thread has the GIL, the kind of its wait is found later.
    if (!thread->ran || !thread->start.active) {
        thread->stack.wait_kind = question.kind;
        tell_kind(thread);
    }
    return reason > GIL_READY;
}

double GilWatch_take_starved(struct SampledThread *thread)
{
    double starved = fmin(thread->stack.starved_ns, thread->wait_ns);

    thread->wait_ns -= starved;
    thread->stack.starved = starved > 0;
    return starved;
}

// Returns true if the GIL has not changed its holder since the observer's step
// began.
static bool is_held(const struct GilWatch *watch)
{
    return Gil_holder(watch->gil) == watch->holder &&
           Gil_switches(watch->gil) == watch->switches;
}

static void observe_holder(struct GilWatch *watch, struct SampledThread *thread,
                           bool on_cpu, const struct ShareTime *now)
{
    bool waits = false, sleeps, requested = is_requested(watch, thread->state);
    struct GilMoment moment = {Clock_read(watch->clock), watch->switches,
                               &thread->stack, 0};

    if (!thread->walked || !is_held(watch))
        return;
    watch->stack = &thread->stack;
    // The holder of the GIL can be asleep, or wait for a CPU. A holder that has
    // not run since its last observation was asleep all the time.
    if (!on_cpu && may_ask(watch, &thread->gil)) {
        sleeps =
            find_reason(watch, thread, now, &waits) && !waits && is_held(watch);
        moment.proofs = sleeps ? 2 : 0;
        if (sleeps || !thread->ran)
            credit_off(&thread->gil, &thread->gil.held, &watch->held, now);
    }
    GilWatch_note(watch, thread, &moment, requested);
}

static void observe_other(struct GilWatch *watch, struct SampledThread *thread,
                          bool on_cpu, const struct ShareTime *now)
{
    struct GilThread *own = &thread->gil;
    bool waits = false;

    if (thread->ran && (on_cpu || thread->start.active))
        // A running thread does not wait. A later observation finds why the
        // thread was off the CPU.
        return;
    // `ran` is true even for a thread that waits for the GIL, because it runs
    // briefly at each switch interval to request the GIL.
    if (thread->state && (thread->ran || !own->sleeps ||
                          thread->stack.wait_kind == WAIT_UNKNOWN)) {
        bool found =
            may_ask(watch, own) && find_reason(watch, thread, now, &waits);

        if (found)
            own->sleeps = !waits;
        else if (thread->ran || !own->sleeps)
            return;
    }
    if (waits && watch->threads->table->count > 1) {
        watch->waited_ns += own->off_ns;
        credit_off(own, &own->waited, &watch->waited, now);
    }
    own->off_ns = own->faded_ns = 0;
}

void GilWatch_observe(struct GilWatch *watch, size_t place, bool on_cpu,
                      const struct ShareTime *now)
{
    struct SampledThread *thread = watch->threads->table->threads[place];

    if (!watch->gil)
        return;
    thread->stack.kind_ns = thread->stack.starved_ns = 0;
    thread->stack.starved = 0;
    if (place == watch->place)
        observe_holder(watch, thread, on_cpu, now);
    else
        observe_other(watch, thread, on_cpu, now);
    if (!thread->ran)
        tell_kind(thread); // The thread still waits as before.
}

void GilWatch_end(struct GilWatch *watch, const struct ShareTime *now)
{
    if (watch->stack)
        Attribution_block(watch->attribution, watch->stack, now,
                          watch->waited_ns);
    // The waiting time cannot be credited to any function if the GIL's holder
    // is not in the table of sampled threads.
    if (watch->stack || (watch->holder && watch->place == GIL_UNLISTED))
        watch->waited_ns = 0;
}

// --- Any thread --------------------------------------------------------------

bool GilWatch_knows_waits(const struct GilWatch *watch)
{
    return watch->gil && Counter_get(&watch->readable);
}

bool GilWatch_knows_ready(const struct GilWatch *watch)
{
    return GilWatch_knows_waits(watch) && !Counter_get(&watch->ready_unknown);
}

void GilWatch_read(struct GilWatch *watch, const struct ShareTime *now,
                   struct GilFigures *figures)
{
    const struct GilHold *longest = &watch->longest;

    *figures = (struct GilFigures){.held = NULL_F64,
                                   .waited = NULL_F64,
                                   .starved = NULL_F64,
                                   .held_s = NULL_F64,
                                   .waited_s = NULL_F64,
                                   .longest_s = NULL_F64};
    if (!watch->gil)
        return;
    figures->held = ShareValue_window(&watch->held, now);
    figures->held_s = (double)Counter_get(&watch->held.total_ns) / 1e9;
    if (GilWatch_knows_waits(watch)) {
        figures->waited = ShareValue_window(&watch->waited, now);
        figures->waited_s = (double)Counter_get(&watch->waited.total_ns) / 1e9;
    }
    if (GilWatch_knows_ready(watch))
        figures->starved = ShareValue_window(&watch->starved, now);
    pthread_mutex_lock(&watch->threads->lock);
    if (longest->s > 0) {
        figures->longest_s = longest->s;
        figures->depth = longest->depth;
        memcpy(figures->frames, longest->frames, sizeof longest->frames);
    }
    pthread_mutex_unlock(&watch->threads->lock);
}
