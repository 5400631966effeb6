// SPDX-License-Identifier: MIT
// Tests tracer/hook/counting and the ring of hits that it empties. Hits that
// are counted late must change the counters in the same way as hits that are
// counted at once. Other tests cover hooks that are removed while their hits
// are in the ring, full rings, and a hook that runs beside a collector.
#include "tracer/hook/counting.h"

#include "tracer/code/arming.h"

#include <pthread.h>

#include "tests/unit.h"

#include "tests/sanitizers.h"
#include "tests/tracer/make_function.h"

// These values are copies of those in counting.c.
enum { AT_A_TIME = 256, HALF = HIT_RING_HITS / 2 };

static const int64_t COST[HOOK_KINDS] = {[HOOK_ENTER] = 3,
                                         [HOOK_RESUME] = 2,
                                         [HOOK_LEAVE] = 4,
                                         [HOOK_JUMP] = 2,
                                         [HOOK_INSTRUCTION] = 5};

struct Fixture {
    // First, because the struct has aligned cache lines.
    struct Counting counting;
    struct Registry *registry;
    struct Contention contention;
    struct Opcodes opcodes;
    int64_t cost[HOOK_KINDS];
    struct ThreadTrace *trace, *other;
    sem_t half_full;
};

// clang-format off
static const uint8_t GENERATOR[] = {
    RESUME, 0,                  // unit 0, instruction 0
    FOR_ITER, 5, CACHE, 0,      // 1, 1: to 8
    YIELD_VALUE, 0,             // 3, 2
    RESUME, 1,                  // 4, 3
    JUMP_BACKWARD, 5, CACHE, 0, // 5, 4: to 1
    RETURN_VALUE, 0,            // 7, 5
    RETURN_VALUE, 0,            // 8, 6
};
// clang-format on

static struct Code *make(struct Fixture *f, const uint8_t *bytecode,
                         size_t size, uint64_t threshold)
{
    return make_function(f->registry, &f->opcodes, bytecode, size, threshold);
}

static struct Code *add(struct Fixture *f, uint64_t threshold)
{
    return make(f, LOOP, sizeof LOOP, threshold);
}

// --- A hook whose hits are counted late or at once --------------------------

static struct Hit make_hit(const struct Code *code, enum HitKind kind,
                           size_t unit, uint32_t depth, uint64_t ticks)
{
    return (struct Hit){ticks, Hit_who(code->who.address, kind),
                        Hit_where(depth, unit, 0)};
}

static void push(struct Fixture *f, const struct Hit *hit)
{
    struct HitRing *ring = &f->counting.ring;

    if (ring->head == ring->limit)
        Counting_make_room(&f->counting);
    HitRing_push(ring, hit->ticks, hit->who, hit->where);
}

static void push_thread(struct Fixture *f, const struct ThreadTrace *trace)
{
    const struct Hit hit = {.who = Hit_who((uintptr_t)trace, HIT_THREAD)};

    push(f, &hit);
}

static void push_ticks(struct Fixture *f, enum HitKind kind, uint64_t ticks,
                       uint64_t where)
{
    const struct Hit hit = {.who = Hit_who(ticks, kind), .where = where};

    push(f, &hit);
}

static bool is_dark(struct Fixture *f, const struct Hit *hit)
{
    return HitRing_is_dark(&f->counting.ring,
                           HitRing_key(hit->who, Hit_unit(hit)));
}

// Counts a hit at once, as python/hooks/call.c does.
static bool count_now(struct Fixture *f, struct ThreadTrace *trace,
                      struct Code *code, const struct Hit *hit)
{
    bool disable;

    Counting_begin(&f->counting);
    disable = Counting_count(&f->counting, trace, code, hit);
    Counting_end(&f->counting);
    return disable;
}

static void push_call(struct Fixture *f, const struct Code *code,
                      uint32_t depth, uint64_t ticks, uint64_t took)
{
    const struct Hit enter = make_hit(code, HIT_ENTER, 0, depth, ticks);
    const struct Hit leave = make_hit(code, HIT_LEAVE, 4, depth, ticks + took);

    push(f, &enter);
    push(f, &leave);
}

// --- Equal counters, late or at once ----------------------------------------

enum { FUNCTIONS = 6, WORLDS = 2 };

// A program that runs in two worlds. One world counts each hit at once. In the
// other world, hits wait in a ring and are counted late.
struct Chaos {
    struct Fixture *worlds[WORLDS];
    struct Code *codes[WORLDS][FUNCTIONS];
    bool generator[FUNCTIONS];
    bool other; // True if the second thread is running.
    uint32_t depth;
    uint64_t ticks;
    uint64_t late; // Number of hits that are counted late.
    uint64_t dark; // Number of hits of sites that are in the dark table.
};

enum { LATE, AT_ONCE };

static struct ThreadTrace *running(const struct Chaos *chaos, int world)
{
    return chaos->other ? chaos->worlds[world]->other
                        : chaos->worlds[world]->trace;
}

// Hits a site in both worlds. No hook is removed, so dark sites have hits, too.
static void hit_both(struct Chaos *chaos, unsigned n, enum HitKind kind,
                     size_t unit, size_t to)
{
    for (int world = 0; world < WORLDS; world++) {
        struct Fixture *f = chaos->worlds[world];
        struct Code *code = chaos->codes[world][n];
        struct Hit hit = make_hit(code, kind, unit, chaos->depth, chaos->ticks);

        hit.where |= to;
        if (world == AT_ONCE) {
            count_now(f, running(chaos, world), code, &hit);
        } else if (is_dark(f, &hit)) {
            count_now(f, running(chaos, world), code, &hit);
            chaos->dark++;
        } else {
            push(f, &hit);
            chaos->late++;
        }
    }
}

static void switch_thread(struct Chaos *chaos)
{
    chaos->other = !chaos->other;
    push_thread(chaos->worlds[LATE], running(chaos, LATE));
}

static void rearm(const struct Chaos *chaos, unsigned n)
{
    for (int world = 0; world < WORLDS; world++) {
        struct Fixture *f = chaos->worlds[world];
        struct Code *code = chaos->codes[world][n];

        Counting_begin(&f->counting);
        ThreadTrace_forget(f->trace, code);
        ThreadTrace_forget(f->other, code);
        Code_rearm(code, 30, true, chaos->ticks);
        Counting_end(&f->counting);
    }
}

// Before the next hit, other programs had the CPU for `taken` ticks, and the
// thread ran for `ran` ticks, or for an unknown time if `ran` is -1.
static void take(const struct Chaos *chaos, long taken, long ran)
{
    push_ticks(chaos->worlds[LATE], HIT_TAKEN, (uint64_t)taken, (uint64_t)ran);
    running(chaos, AT_ONCE)->spent = (struct Spent){taken, ran};
}

// Returns the function on top of the stack in the world that counts at once.
static unsigned on_top(const struct Chaos *chaos, unsigned otherwise)
{
    const struct Code *code = running(chaos, AT_ONCE)->top->code;

    for (unsigned n = 0; code && n < FUNCTIONS; n++)
        if (chaos->codes[AT_ONCE][n] == code)
            return n;
    return otherwise;
}

static void leave_or_raise(struct Chaos *chaos, unsigned n, long choice)
{
    if (choice % 20 == 0)
        hit_both(chaos, n, HIT_RAISE, 0, 0);
    else if (!chaos->generator[n])
        hit_both(chaos, n, HIT_LEAVE, 4, 0);
    else
        hit_both(chaos, n, HIT_LEAVE, choice % 3 ? 3 : 7, 0);
    chaos->depth -= chaos->depth > 1;
}

static void enter_or_resume(struct Chaos *chaos, unsigned n, long choice)
{
    chaos->depth++;
    if (!chaos->generator[n] || choice % 3 == 0)
        hit_both(chaos, n, HIT_ENTER, 0, 0);
    else if (choice % 3 == 1)
        hit_both(chaos, n, HIT_RESUME, 4, 0);
    else
        hit_both(chaos, n, HIT_THROW, 4, 0);
}

// Makes a random event. Some of these events are impossible in a real program.
static void turn(struct Chaos *chaos)
{
    unsigned n = (unsigned)(lrand48() % FUNCTIONS);
    long choice = lrand48() % 1000;

    chaos->ticks += (uint64_t)(lrand48() % 60);
    if (choice < 350) {
        enter_or_resume(chaos, n, choice);
        return;
    }
    if (choice > 980)
        // Some frames end without an event.
        chaos->depth = chaos->depth / 2 + 1;
    if (choice < 900)
        n = on_top(chaos, n);
    if (choice < 700)
        leave_or_raise(chaos, n, choice);
    else if (choice < 900 && chaos->generator[n])
        hit_both(chaos, n, HIT_BRANCH, 1, choice % 2 ? 3 : 8);
    else if (choice < 950)
        hit_both(chaos, n, HIT_JUMP, chaos->generator[n] ? 5 : 2, 1);
    else if (choice < 960)
        switch_thread(chaos);
    else if (choice < 965)
        chaos->ticks += 5000; // A long interval.
    else if (choice < 970)
        rearm(chaos, n);
    else if (choice < 975)
        take(chaos, lrand48() % 100, lrand48() % 101 - 1);
}

static void expect_same_sites(const struct Code *a, const struct Code *b)
{
    for (uint32_t i = 0; i < a->layout.site_count; i++) {
        const struct Site *one = &a->layout.sites[i];
        const struct Site *two = &b->layout.sites[i];

        assert_int_equal(Counter_get(&one->hits), Counter_get(&two->hits));
        assert_int_equal(Counter_get(&one->cycles), Counter_get(&two->cycles));
        assert_int_equal(Counter_get(&one->instructions),
                         Counter_get(&two->instructions));
        assert_int_equal(one->dark, two->dark);
    }
}

#define SAME(counter)                                                          \
    assert_int_equal(Counter_get(&a->counter), Counter_get(&b->counter))

static void expect_same(const struct Code *a, const struct Code *b)
{
    SAME(hot.entries);
    SAME(hot.resumed);
    SAME(hot.self_calls);
    SAME(hot.self_cycles);
    SAME(hot.min_cycles);
    SAME(hot.total_cycles);
    SAME(hot.waited_cycles);
    SAME(hot.last_seen);
    assert_int_equal(a->hot.dark, b->hot.dark);
    assert_int_equal(a->hot.closed, b->hot.closed);
    assert_int_equal(a->hot.exact, b->hot.exact);
    assert_int_equal(a->hot.epoch, b->hot.epoch);
    assert_int_equal(a->hot.dark_callees, b->hot.dark_callees);
    assert_int_equal(a->links.caller_count, b->links.caller_count);
    expect_same_sites(a, b);
    assert_int_equal(!Code_histogram(a), !Code_histogram(b));
    if (Code_histogram(a))
        assert_memory_equal(Code_histogram(a), Code_histogram(b),
                            sizeof(struct Histogram));
}

static void expect_same_thread(struct ThreadTrace *a, struct ThreadTrace *b)
{
    const struct Event *events[WORLDS];
    size_t count;

    assert_int_equal(a->top - a->bottom, b->top - b->bottom);
    assert_int_equal(a->last, b->last);
    SAME(overhead);
    SAME(unwound);
    while ((count = Ring_peek(a->ring, &events[0])) > 0) {
        assert_int_equal(Ring_peek(b->ring, &events[1]), count);
        assert_memory_equal(events[0], events[1], count * sizeof *events[0]);
        Ring_pop(a->ring, count);
        Ring_pop(b->ring, count);
    }
    assert_int_equal(Ring_peek(b->ring, &events[1]), 0);
}

static void compare(const struct Chaos *chaos)
{
    Counting_catch_up(&chaos->worlds[LATE]->counting);
    for (unsigned n = 0; n < FUNCTIONS; n++)
        expect_same(chaos->codes[LATE][n], chaos->codes[AT_ONCE][n]);
    expect_same_thread(chaos->worlds[LATE]->trace,
                       chaos->worlds[AT_ONCE]->trace);
    expect_same_thread(chaos->worlds[LATE]->other,
                       chaos->worlds[AT_ONCE]->other);
}

static void with_timeline(struct Fixture *f)
{
    f->trace->ring = Ring_new(NULL);
    f->other->ring = Ring_new(NULL);
    assert_true(f->trace->ring && f->other->ring);
}

static struct Fixture *new_world(void);

static void begin_chaos(struct Chaos *chaos, struct Fixture *f)
{
    chaos->worlds[LATE] = f;
    chaos->worlds[AT_ONCE] = new_world();
    for (int world = 0; world < WORLDS; world++) {
        with_timeline(chaos->worlds[world]);
        Contention_share(&chaos->worlds[world]->contention, 4000 / 1e15);
        for (unsigned n = 0; n < FUNCTIONS; n++) {
            uint64_t threshold = n % 2 ? 0 : 30;

            chaos->generator[n] = n % 3 == 2;
            chaos->codes[world][n] = chaos->generator[n]
                                         ? make(chaos->worlds[world], GENERATOR,
                                                sizeof GENERATOR, threshold)
                                         : add(chaos->worlds[world], threshold);
        }
    }
    chaos->depth = 1;
    push_thread(f, f->trace);
}

TEST_FIXTURE(test_late_is_as_good_as_at_once)
{
    struct Chaos chaos = {.worlds = {NULL}};
    long seeds = FEWER(30) + 1;

    for (long seed = 1; seed <= seeds; seed++) {
        struct Fixture *first = seed > 1 ? new_world() : f;

        memcpy(first->cost, COST, sizeof COST);
        chaos = (struct Chaos){
            .worlds = {NULL}, .late = chaos.late, .dark = chaos.dark};
        begin_chaos(&chaos, first);
        srand48(seed);
        for (int i = 0; i < 10000; i++) {
            turn(&chaos);
            if (lrand48() % 1000 == 0)
                compare(&chaos);
        }
        compare(&chaos);
        tear_down(chaos.worlds[AT_ONCE]);
        free(chaos.worlds[AT_ONCE]);
        if (seed > 1) {
            tear_down(first);
            free(first);
        }
    }
    assert_true(chaos.late > 6000 * (uint64_t)seeds);
    assert_true(chaos.dark > 100 * (uint64_t)seeds);
}

// --- Threads -----------------------------------------------------------------

// Threads take turns. The counting thread has slept before the last turn.
TEST_FIXTURE(test_a_turn_knows_the_threads_newest_hit)
{
    struct HitRing *ring = &f->counting.ring;
    const struct Code *code = add(f, 0);

    ring->trace = f->trace;
    push_call(f, code, 1, 100, 10);
    assert_int_equal(Counting_turn(&f->counting, f->trace, 150), 40);
    assert_int_equal(Counting_turn(&f->counting, f->other, 200), 0);
    ring->trace = f->other;
    push_call(f, code, 1, 300, 20);
    assert_true(HitRing_sleep(ring, ring->head));
    assert_int_equal(Counting_turn(&f->counting, f->other, 350), 30);
    assert_int_equal(Counting_turn(&f->counting, f->trace, 410), 300);
    ring->trace = f->trace;
    push_call(f, code, 1, 410, 20);
    assert_int_equal(Counting_turn(&f->counting, f->other, 520), 200);
}

// If C code forks, another thread can be in the middle of writing a hit.
TEST_FIXTURE(test_hits_of_who_is_not_in_the_child)
{
    const struct Code *code = add(f, 0);

    Counting_begin(&f->counting);
    push_thread(f, f->other);
    push_call(f, code, 1, 100, 10);
    f->contention.last_trace = f->other;
    f->counting.ring.task_code = 64;
    Counting_after_fork(&f->counting);
    assert_null(f->contention.last_trace);
    assert_int_equal(f->counting.ring.task_code, 0);
    push_thread(f, f->trace);
    push_call(f, code, 1, 200, 10);
    Counting_catch_up(&f->counting);
    expect_calls(code, 1, 1, 10, 10);
}

// --- A hook and a collector at the same time --------------------------------

struct Both {
    struct Fixture *f;
    struct Code *code, *dark;
    uint64_t calls;
    uint64_t out; // Number of calls of `dark` that were not counted.
    atomic_bool done;
};

static void call_dark(struct Both *both, uint64_t ticks)
{
    struct Fixture *f = both->f;
    const struct Hit enter = make_hit(both->dark, HIT_ENTER, 0, 2, ticks);

    if (!is_dark(f, &enter))
        push(f, &enter);
    else if (count_now(f, f->trace, both->dark, &enter))
        both->out++;
}

static void *run_hooks(void *context)
{
    struct Both *both = context;

    push_thread(both->f, both->f->trace);
    for (uint64_t i = 0; i < both->calls; i++) {
        struct Hit hit = make_hit(both->code, HIT_ENTER, 0, 1, 100 * i);

        push(both->f, &hit);
        if (both->dark && i % 4 == 0)
            call_dark(both, 100 * i + 2);
        hit = make_hit(both->code, HIT_LEAVE, 4, 1, 100 * i + 10);
        push(both->f, &hit);
    }
    atomic_store(&both->done, true);
    return NULL;
}

static void run_both(struct Both *both)
{
    pthread_t hooks;
    uint64_t entries = 0;

    assert_int_equal(pthread_create(&hooks, NULL, run_hooks, both), 0);
    while (!atomic_load(&both->done)) {
        uint64_t now = Counter_get(&both->code->hot.entries);

        assert_true(now >= entries);
        entries = now;
        Counting_catch_up(&both->f->counting);
    }
    pthread_join(hooks, NULL);
    Counting_catch_up(&both->f->counting);
}

TEST_FIXTURE(test_two_at_a_time_and_a_threshold)
{
    struct Both both = {
        .f = f, .code = add(f, 0), .dark = add(f, 100), .calls = FEWER(500000)};

    run_both(&both);
    assert_int_equal(Counter_get(&both.dark->hot.entries), 100);
    assert_true(both.out > 0 && both.out <= both.calls / 4 - 100);
    assert_int_equal(Counter_get(&both.code->hot.entries), both.calls);
}

// --- Limits of the numbers in a hit -----------------------------------------

TEST(test_the_limits_of_a_hit)
{
    const uint32_t depth = (1u << HIT_DEPTH_BITS) - 1;
    const size_t unit = (1u << HIT_UNIT_BITS) - 1;
    const uintptr_t address = ((uintptr_t)1 << 57) - 16;
    const struct Hit hit = {1, Hit_who(address, HIT_KINDS),
                            Hit_where(depth, unit, unit - 1)};

    assert_int_equal(sizeof hit, 24);
    assert_true(Hit_fits(depth, unit, unit));
    assert_true(Hit_fits(0, 0, 0));
    assert_false(Hit_fits(depth + 1, 0, 0));
    assert_false(Hit_fits(UINT32_MAX, 0, 0));
    assert_false(Hit_fits(0, unit + 1, 0));
    assert_false(Hit_fits(0, 0, unit + 1));
    assert_false(Hit_fits(0, SIZE_MAX, 0));
    assert_int_equal(Hit_depth(&hit), depth);
    assert_int_equal(Hit_unit(&hit), unit);
    assert_int_equal(Hit_to(&hit), unit - 1);
    assert_int_equal(Hit_address(&hit), address);
    assert_int_equal(Hit_kind(&hit), HIT_KINDS);
    assert_true(HIT_KINDS < 1 << HIT_KIND_BITS);
    assert_true(Hit_fits(0, 0, Hit_caller(UINTPTR_MAX)));
    assert_true(Hit_caller(0) != 0);
    for (size_t other = 1; other <= unit; other *= 2)
        assert_true(HitRing_key(hit.who, other) != HitRing_key(hit.who, 0));
    assert_true(HitRing_key(Hit_who(address, HIT_ENTER), 0) !=
                HitRing_key(Hit_who(address, HIT_RESUME), 0));
    assert_int_not_equal(Hit_caller(0x7f0012345600),
                         Hit_caller(0x7f0012345640));
}

// --- Fixture -----------------------------------------------------------------

static struct ThreadTrace *new_trace(struct Fixture *f)
{
    struct ThreadTrace *trace =
        ThreadTrace_new(f->registry, &f->contention, f->cost);

    assert_non_null(trace);
    ThreadTrace_reset(trace, 0);
    return trace;
}

// Makes a fixture whose hooks cost nothing.
static void set_up(struct Fixture *f)
{
    make_opcodes(&f->opcodes);
    f->registry = Registry_new();
    // With so many ticks a second, no interval is long, so the kernel is never
    // asked whether the thread has waited.
    Contention_init(&f->contention, 1e15);
    sem_init(&f->half_full, 0, 0);
    Counting_init(&f->counting, f->registry, &f->contention, &f->half_full);
    f->trace = new_trace(f);
    f->other = new_trace(f);
    f->contention.last_trace = f->trace;
}

// Makes a second fixture, whose hooks have a cost.
static struct Fixture *new_world(void)
{
    struct Fixture *f =
        Unit_zeroed(_Alignof(struct Fixture), sizeof(struct Fixture));

    set_up(f);
    memcpy(f->cost, COST, sizeof COST);
    return f;
}

static void tear_down(struct Fixture *f)
{
    ThreadTrace_free(f->trace);
    ThreadTrace_free(f->other);
    Registry_free(f->registry);
}
