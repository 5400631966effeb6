// SPDX-License-Identifier: MIT
// See stall_watch.h. A turn observes the steps that have run for EARLY of the
// limit. A younger step is observed SOON of the limit later. If no step runs,
// the next turn is PERIOD of the limit later. So each step that reaches the
// limit is observed before, even if the turn is a fifth of the limit late. If
// no loop has begun or stalled for CLOSE_NS, turns are rarer by the factor
// CALM, because a turn costs about 20 us.
#include "tracer/sample/stall_watch.h"
#include "tracer/base/lines.h"
#include "tracer/base/rcu.h"

#include <stdio.h>
#include <string.h>

#define PERIOD 0.8
#define SOON 0.6
#define EARLY 0.2
#define CLOSE_NS UINT64_C(10000000000)
#define CALM 4
#define LEAST_NS 10000000u // least time between two turns
#define LATER 8            // a step of age t is observed again after t / LATER
#define MOST_LOOPS                                                             \
    2               // loops that one turn observes, so that many busy
                    // loops cost no more than two
#define RETRIES 3   // further walks if the thread runs during a walk
#define OMITTED "…" // stands for the outermost functions of a stack

static uint32_t line_of(const struct Code *code, uint32_t unit)
{
    struct LineReader reader;

    if (unit == UINT32_MAX)
        return 0;
    LineReader_init(&reader, code->who.line_table, code->who.line_table_size,
                    code->who.line);
    return LineReader_line(&reader, unit);
}

// Adds a name before the text of `out`. If the name does not fit, adds OMITTED
// instead and returns false. OMITTED always fits.
static bool prepend(char *out, size_t size, const char *name)
{
    size_t old = strlen(out), gap = old > 0;
    bool fits = strlen(name) + gap + old + sizeof OMITTED < size;
    size_t length = strlen(fits ? name : OMITTED);

    memmove(out + length + gap, out, old + 1);
    memcpy(out, fits ? name : OMITTED, length);
    if (gap)
        out[length] = ';';
    return fits;
}

// Fills the place of the newest walk. Returns false if the step's code is not
// on the stack.
static bool fill(const struct StallWatch *watch, uint32_t newest,
                 uintptr_t step, struct StallPlace *place)
{
    const struct Walk *walk = watch->walk;
    bool found = walk->torn || walk->truncated, fits = true;

    *place = (struct StallPlace){.torn = walk->torn};
    Rcu_read_lock();
    for (unsigned i = 0; i < walk->depth; i++) {
        const struct WalkFrame *frame = &walk->frames[i];
        const struct Code *code = Registry_find_at(
            watch->attribution->registry, frame->code, newest, UINT64_MAX);

        found |= frame->code == step;
        if (!code)
            continue;
        if (!place->function) {
            place->function = code->hot.id;
            place->line = line_of(
                code, Attribution_unit(watch->attribution, code, frame));
            snprintf(place->name, sizeof place->name, "%s", code->who.name);
            snprintf(place->file, sizeof place->file, "%s", code->who.file);
        }
        fits =
            fits && prepend(place->stack, sizeof place->stack, code->who.name);
    }
    Rcu_read_unlock();
    return found;
}

static void observe(struct StallWatch *watch, struct EventLoop *loop,
                    uint64_t began)
{
    uint64_t step = Counter_get(&loop->steps);
    uintptr_t code = atomic_load_explicit(&loop->code, memory_order_relaxed);
    struct WalkStart start = {
        .state = atomic_load_explicit(&loop->state, memory_order_relaxed)};
    uint32_t newest = Registry_newest_id(watch->attribution->registry);
    struct StallPlace place;

    for (int i = 0; i < RETRIES; i++) {
        Walk_frames(watch->walk, &start);
        if (!watch->walk->torn || !start.read)
            break;
    }
    if (!start.read || EventLoop_began(loop) != began ||
        Counter_get(&loop->steps) != step)
        return; // the walk may show the next step
    // If the step runs in another greenlet, its code is on another stack.
    if (!fill(watch, newest, code, &place) &&
        start.chunk == atomic_load_explicit(&loop->chunk, memory_order_relaxed))
        // An exception has ended the step, and its event was switched off.
        atomic_compare_exchange_strong(&loop->began, &began, 0);
    else if (place.function)
        EventLoops_observe(watch->loops, loop, step, Clock_read(watch->clock),
                           &place);
}

// Observes the loop if its step takes long. Returns the ns until the loop must
// be observed again, or UINT64_MAX if no step runs.
static uint64_t see(struct StallWatch *watch, struct EventLoop *loop,
                    double limit_ns)
{
    uint64_t began = EventLoop_began(loop), now = Clock_read(watch->clock);
    double age_ns;

    if (!began || now <= began)
        return UINT64_MAX;
    age_ns = (double)(now - began) * 1e9 / watch->loops->hz;
    if (age_ns < EARLY * limit_ns)
        return (uint64_t)(SOON * limit_ns);
    if (!watch->left)
        return LEAST_NS;
    watch->left--;
    observe(watch, loop, began);
    return (uint64_t)(age_ns / LATER);
}

// Returns true if a loop has stalled or has begun recently.
static bool is_close(struct StallWatch *watch, uint64_t now_ns)
{
    const struct EventLoops *loops = watch->loops;
    uint64_t news =
        Counter_get(&loops->taken) + Counter_get(&loops->stall_count);

    if (news != watch->news)
        watch->close_until_ns = now_ns + CLOSE_NS;
    watch->news = news;
    return now_ns < watch->close_until_ns;
}

// Lets the next step wake this thread, if no step has begun since the last
// turn. Returns false if a step has begun.
static bool fall_asleep(struct StallWatch *watch)
{
    struct EventLoops *loops = watch->loops;

    if (EventLoops_steps(loops) != watch->steps)
        return false;
    atomic_store(&loops->asleep, true);
    watch->slept = EventLoops_steps(loops) == watch->steps;
    if (!watch->slept)
        atomic_store(&loops->asleep, false);
    return watch->slept;
}

static uint64_t turn(struct StallWatch *watch, uint64_t now_ns)
{
    struct EventLoops *loops = watch->loops;
    uint64_t steps = EventLoops_steps(loops), next = UINT64_MAX, most;
    double limit_ns = (double)loops->limit * 1e9 / loops->hz;
    unsigned first = watch->first;

    watch->slept = false;
    watch->left = MOST_LOOPS;
    for (unsigned i = 0; i < loops->count; i++) {
        unsigned number = (first + i) % loops->count, left = watch->left;
        struct EventLoop *loop = &loops->loops[number];
        uint64_t wait =
            atomic_load(&loop->used) ? see(watch, loop, limit_ns) : UINT64_MAX;

        next = wait < next ? wait : next;
        if (watch->left != left)
            watch->first = number + 1; // the next turn begins after this loop
    }
    most = (uint64_t)(PERIOD * (is_close(watch, now_ns) ? 1 : CALM) * limit_ns);
    // A step that has run for long does not end soon.
    if (next > most && fall_asleep(watch))
        return next == UINT64_MAX ? next : now_ns + next;
    watch->steps = steps;
    next = next < most ? next : most;
    return now_ns + (next < LEAST_NS ? LEAST_NS : next);
}

uint64_t StallWatch_step(struct StallWatch *watch, uint64_t now_ns)
{
    if (!watch->loops)
        return UINT64_MAX;
    if (watch->slept && !atomic_load(&watch->loops->asleep))
        watch->due_ns = 0; // a step has woken this thread
    if (now_ns >= watch->due_ns)
        watch->due_ns = turn(watch, now_ns);
    return watch->due_ns;
}
