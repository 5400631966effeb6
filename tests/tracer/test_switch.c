// SPDX-License-Identifier: MIT
// Tests tracer/hook/switch with simulated greenlets, which make random calls on
// simulated stacks. A model of the program knows every frame and every tick.
#include "tracer/hook/switch.h"

#include "tracer/hook/thread_trace_block.h"
#include "tracer/hook/thread_trace_call.h"

#include <string.h>

#include "tests/unit.h"

#include "tests/tracer/make_function.h"

#define DEEP 512

static const int64_t NOTHING[HOOK_KINDS];

// A greenlet, and its part of the interpreter's stack, which begins at depth
// `base` + 1.
struct Greenlet {
    struct RealStack real;
    uint32_t base;
    uint32_t depth;
    struct Code *frames[DEEP];
    uint64_t entered[DEEP];
};

struct Fixture {
    struct Registry *registry;
    struct Contention contention;
    struct Opcodes opcodes;
    struct ThreadTrace *trace;
};

static bool holds(struct RealStack *real, const struct Frame *frame)
{
    const struct Greenlet *greenlet = (const struct Greenlet *)real;

    return frame->depth > greenlet->base && frame->depth <= greenlet->depth &&
           greenlet->frames[frame->depth]->who.address == frame->address;
}

static void start(struct Greenlet *greenlet, uintptr_t root, uint32_t base)
{
    memset(greenlet, 0, sizeof *greenlet);
    greenlet->real = (struct RealStack){root, root, holds};
    greenlet->base = greenlet->depth = base;
}

static struct Code *add(struct Fixture *f)
{
    return make_function(f->registry, &f->opcodes, LOOP, sizeof LOOP, 0);
}

// Checks for a switch as python/hooks/hook.c does.
static void look(struct Fixture *f, struct Greenlet *greenlet, uint64_t ticks)
{
    if (f->trace->chunk != greenlet->real.chunk)
        ThreadTrace_switch(f->trace, &greenlet->real, ticks);
}

static void enter(struct Fixture *f, struct Greenlet *greenlet,
                  struct Code *code, uint64_t ticks)
{
    greenlet->frames[++greenlet->depth] = code;
    greenlet->entered[greenlet->depth] = ticks;
    look(f, greenlet, ticks);
    ThreadTrace_enter(f->trace, code, greenlet->depth, 0, ticks);
}

static void leave(struct Fixture *f, struct Greenlet *greenlet, uint64_t ticks)
{
    struct Code *code = greenlet->frames[greenlet->depth];

    look(f, greenlet, ticks);
    ThreadTrace_leave(f->trace, code,
                      &code->layout.sites[code->layout.site_count - 1],
                      greenlet->depth, ticks);
    greenlet->depth--;
}

static void jump(struct Fixture *f, struct Greenlet *greenlet, uint64_t ticks)
{
    struct Code *code = greenlet->frames[greenlet->depth];

    look(f, greenlet, ticks);
    ThreadTrace_jump(f->trace, code, &code->layout.sites[1], 1, greenlet->depth,
                     ticks);
}

static bool is_open(const struct Greenlet *greenlet, const struct Code *code)
{
    uint32_t depth;

    for (depth = greenlet->base + 1; depth <= greenlet->depth; depth++)
        if (greenlet->frames[depth] == code)
            return true;
    return false;
}

// Eight greenlets come and go. The thread switches between greenlets at any two
// events. Frames and greenlets end without an event, and new greenlets use the
// same root frames. The model divides the ticks as switch.h says, and knows the
// time of every call.
TEST_FIXTURE(test_random_greenlets)
{
    enum { COUNT = 8, CODES = 5, STEPS = 40000 };
    struct Greenlet *greenlets = calloc(COUNT, sizeof *greenlets);
    struct Code *codes[CODES];
    uint64_t calls[CODES] = {0}, totals[CODES] = {0}, ticks = 0, sum = 0;
    uint32_t seed = 7;
    size_t i, now = 0;

    for (i = 0; i < CODES; i++)
        codes[i] = add(f);
    for (i = 0; i < COUNT; i++)
        start(&greenlets[i], 0x1000 * (i + 1), (uint32_t)i);
    enter(f, &greenlets[0], codes[0], ticks); // The main greenlet never ends.
    calls[0]++;
    for (i = 0; i < STEPS; i++) {
        struct Greenlet *g;
        uint32_t what = (seed = seed * 1664525 + 1013904223) >> 8;
        size_t which = what % CODES;

        if (what >> 4 & 1)
            now = (what >> 8) % COUNT;
        g = &greenlets[now];
        ticks += 1 + (what >> 5) % 50;
        if (now && (what >> 12) % 64 == 0) {
            // The greenlet ends. Then the main greenlet runs, and a new
            // greenlet uses the same root frame at another depth.
            jump(f, &greenlets[0], ticks);
            start(g, g->real.root, (what >> 18) % 9);
            continue;
        }
        if (g->depth - g->base < (now ? 1 : 2) ||
            ((what >> 20 & 1) && g->depth - g->base < 30)) {
            enter(f, g, codes[which], ticks);
            calls[which]++;
            continue;
        }
        for (which = 0; codes[which] != g->frames[g->depth]; which++)
            ;
        if ((what >> 21) % 16 == 0 && g->depth - g->base > 2) {
            g->depth--; // An exception, without an event.
            continue;
        }
        leave(f, g, ticks);
        if (!is_open(g, codes[which]))
            totals[which] += ticks - g->entered[g->depth + 1];
    }
    for (i = 0; i < CODES; i++) {
        assert_int_equal(Counter_get(&codes[i]->hot.entries), calls[i]);
        assert_int_equal(Counter_get(&codes[i]->hot.total_cycles), totals[i]);
        sum += Counter_get(&codes[i]->hot.self_cycles);
    }
    assert_true(sum > ticks / 4 && sum <= ticks);
    assert_true(Counter_get(&f->trace->unwound) > STEPS / 100);
    free(greenlets);
}

static void set_up(struct Fixture *f)
{
    f->registry = Registry_new();
    make_opcodes(&f->opcodes);
    // With so many ticks a second, no interval is long, so the kernel is never
    // asked whether the thread has waited.
    Contention_init(&f->contention, 1e15);
    f->trace = ThreadTrace_new(f->registry, &f->contention, NOTHING);
    assert_non_null(f->trace);
    ThreadTrace_reset(f->trace, 0);
    f->contention.last_trace = f->trace;
}

static void tear_down(struct Fixture *f)
{
    ThreadTrace_free(f->trace);
    Registry_free(f->registry);
}
