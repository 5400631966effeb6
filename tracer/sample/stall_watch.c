// SPDX-License-Identifier: MIT
// EARLY, SOON and PERIOD are fractions of the time after which a step of an
// event loop is a stall. At regular times (turns) StallWatch observes each step
// that has run for the fraction EARLY of a stall's time. If a turn finds a
// younger step, the next turn comes after the fraction SOON of a stall's time.
// If no step runs, the next turn comes after the fraction PERIOD. Each step is
// thus observed before it becomes a stall, even if a turn is late by a fifth of
// a stall's time. A turn takes about 20 us, so turns are CALM times rarer if no
// event loop has begun or stalled for CLOSE_NS.
#include "tracer/sample/stall_watch.h"
#include "tracer/base/rcu.h"

#include <stdio.h>
#include <string.h>

#define PERIOD 0.8
#define SOON 0.6
#define EARLY 0.2
#define CLOSE_NS UINT64_C(10000000000)
#define CALM 4
// Smallest number of ns between two turns of StallWatch.
#define LEAST_NS 10000000u
// A step of an event loop that has run for the time t is observed again after t
// / LATER.
#define LATER 8
// One turn observes at most MOST_LOOPS event loops, so many busy event loops
// cost no more than two.
#define MOST_LOOPS 2
// Replaces the names of the outermost functions of a stack that did not fit.
#define OMITTED "…"

// Inserts a function's name at the beginning of `out`, which lists names
// separated by semicolons. If the name does not fit, inserts OMITTED and
// returns false. OMITTED always fits.
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

void StallPlace_fill(struct StallPlace *place,
                     const struct Attribution *attribution,
                     const struct WalkFrame *frames, unsigned depth,
                     uint32_t newest)
{
    bool fits = true;

    *place = (struct StallPlace){.function = 0};
    Rcu_read_lock();
    for (unsigned i = 0; i < depth; i++) {
        const struct WalkFrame *frame = &frames[i];
        const struct Code *code = Registry_find_at(
            attribution->registry, frame->code, newest, UINT64_MAX);

        if (!code)
            continue;
        if (!place->function) {
            place->function = code->hot.id;
            place->line = Attribution_line(
                attribution, code, Attribution_unit(attribution, code, frame));
            snprintf(place->name, sizeof place->name, "%s", code->who.name);
            snprintf(place->file, sizeof place->file, "%s", code->who.file);
        }
        fits =
            fits && prepend(place->stack, sizeof place->stack, code->who.name);
    }
    Rcu_read_unlock();
}

// Fills `place` from the frames that the newest walk over the stack has found.
// Returns false if no frame runs the step's code object.
static bool fill(const struct StallWatch *watch, uint32_t newest,
                 uintptr_t step, struct StallPlace *place)
{
    const struct Walk *walk = watch->walk;
    bool found = walk->torn || walk->truncated;

    StallPlace_fill(place, watch->attribution, walk->frames, walk->depth,
                    newest);
    place->torn = walk->torn;
    for (unsigned i = 0; i < walk->depth && !found; i++)
        found = walk->frames[i].code == step;
    return found;
}

static void observe(struct StallWatch *watch, struct EventLoop *loop,
                    uint64_t began)
{
    uint64_t step = Counter_get(&loop->steps);
    uintptr_t code = atomic_load_explicit(&loop->code, memory_order_relaxed);
    struct WalkStart start = {
        .state = atomic_load_explicit(&loop->state, memory_order_relaxed)};
    uintptr_t chunk = atomic_load_explicit(&loop->chunk, memory_order_relaxed);
    uint32_t newest = Registry_newest_id(watch->attribution->registry);
    struct StallPlace place;

    Walk_other(watch->walk, &start);
    // The fence pairs with the fence in EventLoop_end.
    atomic_thread_fence(memory_order_acquire);
    if (!start.read || EventLoop_began(loop) != began ||
        Counter_get(&loop->steps) != step)
        // The frames that were read may be those of the loop's next step.
        return;
    // fill() does not find the step's code object if the step runs in another
    // greenlet, which has another stack.
    if (!fill(watch, newest, code, &place) && start.chunk == chunk)
        // An exception has ended the step unseen, because PY_UNWIND was
        // switched off.
        atomic_compare_exchange_strong(&loop->began, &began, 0);
    else if (place.function)
        EventLoops_observe(watch->loops, loop, step, Clock_read(watch->clock),
                           &place);
}

// Observes the event loop if its running step takes long. Returns the ns until
// the loop must be observed again, or UINT64_MAX if no step runs.
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

// Returns true if an event loop has begun or stalled within the last CLOSE_NS.
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

// Makes the next step of an event loop wake the sampler's thread. Does nothing
// and returns false if a step has begun since the last turn of StallWatch.
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
            watch->first = number + 1;
    }
    most = (uint64_t)(PERIOD * (is_close(watch, now_ns) ? 1 : CALM) * limit_ns);
    // A step that has run for long probably goes on, so the sampler's thread
    // may sleep.
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
        // A step of an event loop has woken the sampler's thread and has set
        // `asleep` to false.
        watch->due_ns = 0;
    if (now_ns >= watch->due_ns)
        watch->due_ns = turn(watch, now_ns);
    return watch->due_ns;
}
