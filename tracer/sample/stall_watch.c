// SPDX-License-Identifier: MIT
// See stall_watch.h. A turn observes the steps that have run for EARLY of the
// limit. A younger step is observed SOON of the limit later. If no step runs,
// the next turn is PERIOD of the limit later. So each step that reaches the
// limit is observed before, even if the turn is a fifth of the limit late.
#include "tracer/sample/stall_watch.h"
#include "tracer/base/lines.h"
#include "tracer/base/rcu.h"

#include <stdio.h>
#include <string.h>

#define PERIOD 0.8
#define SOON 0.6
#define EARLY 0.2
#define LEAST_NS 10000000u // least time between two turns
#define LATER 8            // a step of age t is observed again after t / LATER
#define RETRIES 3          // further walks if the thread runs during a walk

static uint32_t line_of(const struct Code *code, uint32_t unit)
{
    struct LineReader reader;

    if (unit == UINT32_MAX)
        return 0;
    LineReader_init(&reader, code->who.line_table, code->who.line_table_size,
                    code->who.line);
    return LineReader_line(&reader, unit);
}

// Adds a name before the text of `out`. If the names do not fit, the outermost
// ones are missing.
static void prepend(char *out, size_t size, const char *name)
{
    size_t length = strlen(name), old = strlen(out), gap = old > 0;

    if (length + gap + old >= size)
        return;
    memmove(out + length + gap, out, old + 1);
    memcpy(out, name, length);
    if (gap)
        out[length] = ';';
}

// Fills the place of the newest walk. Returns false if the step's code is not
// on the stack, so that the step has ended without an event.
static bool fill(const struct StallWatch *watch, uint32_t newest,
                 uintptr_t step, struct StallPlace *place)
{
    const struct Walk *walk = watch->walk;
    bool found = walk->torn || walk->truncated;

    *place = (struct StallPlace){0};
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
        prepend(place->stack, sizeof place->stack, code->who.name);
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
    if (EventLoop_began(loop) != began || Counter_get(&loop->steps) != step)
        return; // the walk may show the next step
    if (fill(watch, newest, code, &place))
        EventLoops_observe(watch->loops, loop, step, Clock_read(watch->clock),
                           &place);
    else // an exception has ended the step, and its event was switched off
        atomic_compare_exchange_strong(&loop->began, &began, 0);
}

// Returns the ns until the loop must be observed again. Sets *open if a step
// runs.
static uint64_t see(struct StallWatch *watch, struct EventLoop *loop,
                    uint64_t period_ns, bool *open)
{
    uint64_t began = EventLoop_began(loop), now = Clock_read(watch->clock);
    double limit = (double)watch->loops->limit, age;

    if (!began || now <= began)
        return period_ns;
    *open = true;
    age = (double)(now - began);
    if (age < EARLY * limit)
        return (uint64_t)(SOON / PERIOD * (double)period_ns);
    observe(watch, loop, began);
    return (uint64_t)(age / limit / PERIOD * (double)period_ns / LATER);
}

static uint64_t turn(struct StallWatch *watch, uint64_t now_ns)
{
    struct EventLoops *loops = watch->loops;
    uint64_t steps = EventLoops_steps(loops);
    uint64_t most = (uint64_t)(PERIOD * 1e9 * (double)loops->limit / loops->hz);
    uint64_t next = most;
    bool open = false;

    for (unsigned i = 0; i < loops->count; i++) {
        struct EventLoop *loop = &loops->loops[i];
        uint64_t wait = loop->used ? see(watch, loop, most, &open) : most;

        next = wait < next ? wait : next;
    }
    if (!open && steps == watch->steps) {
        atomic_store(&loops->asleep, true);
        if (EventLoops_steps(loops) == steps)
            return UINT64_MAX;
        atomic_store(&loops->asleep, false);
    }
    watch->steps = steps;
    return now_ns + (next < LEAST_NS ? LEAST_NS : next);
}

uint64_t StallWatch_step(struct StallWatch *watch, uint64_t now_ns)
{
    if (!watch->loops || atomic_load(&watch->loops->asleep))
        watch->due_ns = UINT64_MAX;
    else if (watch->due_ns == UINT64_MAX) // a step has woken this thread
        watch->due_ns = 0;
    if (now_ns >= watch->due_ns)
        watch->due_ns = turn(watch, now_ns);
    return watch->due_ns;
}
