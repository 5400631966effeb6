// SPDX-License-Identifier: MIT
// A traced thread's lane: what the hot path in lane_*.h leaves to functions,
// since it happens once per function, per thread or per surprise. Run by the
// lane's own thread with the interpreter's lock held.
#include "tracer/hook/lane.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/code/arming.h"
#include "tracer/code/means.h"
#include "tracer/code/registry.h"

#include <string.h>
#include <time.h>

// With the sentinel no mapping of its own: ipc/base/heap.h.
#define FIRST_FRAMES 64
#define MAX_FRAMES (1u << 16) // a stack: 4 MiB; what is deeper goes unseen

struct Lane *Lane_new(unsigned number, struct Registry *registry,
                      struct Contention *contention)
{
    struct Lane *lane = Heap_zeroed(1, sizeof *lane);

    if (!lane)
        return NULL;
    lane->stack = Stack_new(FIRST_FRAMES);
    if (!lane->stack) {
        Heap_free(lane);
        return NULL;
    }
    lane->top = lane->bottom = lane->stack->bottom;
    lane->limit = lane->stack->limit;
    lane->stack_bytes = FIRST_FRAMES * sizeof *lane->bottom;
    lane->number = number;
    lane->registry = registry;
    lane->contention = contention;
    return lane;
}

void Lane_free(struct Lane *lane)
{
    if (!lane)
        return;
    Ring_free(lane->ring);
    lane->stack->bottom = lane->bottom; // it may have grown
    Stack_free(lane->stack);
    Stack_free(lane->spare);
    Stacks_clear(&lane->parked);
    Heap_free(lane);
}

void Lane_reset(struct Lane *lane, const int64_t cost[HOOK_KINDS],
                uint64_t ticks)
{
    Stacks_clear(&lane->parked);
    Stack_free(lane->spare);
    lane->spare = NULL;
    lane->stack->root = lane->chunk = 0;
    lane->stack_bytes =
        (size_t)(lane->limit + 1 - lane->bottom) * sizeof *lane->bottom;
    lane->top = lane->bottom;
    memset(lane->bottom, 0, sizeof *lane->bottom);
    memset(lane->active, 0, sizeof lane->active);
    memset(lane->seen, 0, sizeof lane->seen);
    memcpy(lane->cost, cost, sizeof lane->cost);
    lane->loop_count = 0;
    lane->last = (int64_t)ticks;
    Preemption_init(&lane->preemption);
    Cell_set(&lane->debt, 0);
    Cell_set(&lane->kept, 0);
    Cell_set(&lane->unwound, 0);
}

void Lane_end(struct Lane *lane)
{
    lane->cpu_end_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    // Pairs with the acquire in lanes.c: this thread's last hook is over.
    atomic_store_explicit(&lane->ended, true, memory_order_release);
}

// By the kernel's thread id: a pthread_t dangles once its thread has ended.
static uint64_t thread_ns(const struct Lane *lane)
{
    if (atomic_load_explicit(&lane->ended, memory_order_acquire))
        return lane->cpu_end_ns;
    return Now_ns(Now_clock_of(lane->tid));
}

uint64_t Lane_cpu_ns(const struct Lane *lane)
{
    uint64_t now = thread_ns(lane);

    return now > lane->cpu_start_ns ? now - lane->cpu_start_ns : 0;
}

void Lane_restart_cpu(struct Lane *lane)
{
    lane->cpu_start_ns = thread_ns(lane);
}

// Of a stack's frames.
static void forget(struct Frame *bottom, struct Frame *top,
                   const struct Code *code)
{
    struct Frame *frame;

    for (frame = bottom + 1; frame <= top; frame++)
        if (frame->code == code) {
            frame->code = NULL;
            frame->address = 0;
        }
}

void Lane_forget(struct Lane *lane, const struct Code *code)
{
    const struct Stack *stack;

    if (Lane_seen(lane, code->who.address)->code == code)
        memset(Lane_seen(lane, code->who.address), 0, sizeof(struct Seen));
    if (!lane->active[code->hot.id % LANE_ACTIVE])
        return;
    forget(lane->bottom, lane->top, code);
    for (stack = lane->parked.oldest; stack; stack = stack->newer)
        forget(stack->bottom, stack->top, code);
}

bool Lane_grow(struct Lane *lane)
{
    size_t count = (size_t)(lane->limit - lane->bottom) + 1;
    struct Frame *frames, *old = lane->bottom;

    if (2 * count > MAX_FRAMES)
        return false;
    frames = Stack_frames(2 * count);
    if (!frames)
        return false;
    memcpy(frames, old, count * sizeof *frames);
    lane->top = frames + (lane->top - old);
    lane->limit = frames + 2 * count - 1;
    lane->bottom = frames;
    lane->stack_bytes += count * sizeof *frames;
    // Last: a child of a fork just now frees what the lane has.
    Heap_free(old);
    return true;
}

void Lane_pop_unseen(struct Lane *lane, uint64_t ticks)
{
    Cell_add(&lane->unwound, 1);
    Lane_emit(lane, ticks, EVENT_UNWOUND, lane->top, COURSE_WHOLE);
    Lane_pop(lane);
    // From that unseen moment on the span was the caller's: it went to the
    // dead frame, and the caller's self time is not known any more.
    lane->top->epoch = EPOCH_NONE;
}

void Lane_lose_step(struct Lane *lane)
{
    const struct Code *code = lane->top->code;

    if (code && code->layout.instructions)
        lane->top->start = (uint16_t)code->layout.instruction_count;
}

// Ticks of a span, which has ended, in which other programs had the CPU. What
// asking takes is the hook's cost, but for when they have it then, too.
static int64_t preempted(struct Lane *lane, int64_t span)
{
    double cycles_a_ns = lane->contention->hz * 1e-9;
    int64_t ns = (int64_t)((double)span / cycles_a_ns), asked, paid;

    if (ns <= PREEMPTION_BRIEF_NS)
        return 0;
    if (ns < PREEMPTION_STOPPED_NS &&
        (!lane->contention->preempted || Preemption_skip(&lane->preemption))) {
        Preemption_forget(&lane->preemption);
        return 0;
    }
    ns = Preemption_take(&lane->preemption, ns);
    asked = lane->preemption.then.reading_ns;
    paid = asked < PREEMPTION_READING_NS ? asked : PREEMPTION_READING_NS;
    Cell_add(&lane->debt, (uint64_t)((double)paid * cycles_a_ns));
    lane->last += (int64_t)((double)(asked - paid) * cycles_a_ns);
    return (int64_t)((double)ns * cycles_a_ns);
}

int64_t Lane_doubt(struct Lane *lane, int64_t span)
{
    struct Contention *contention = lane->contention;
    bool alone = contention->last_lane == lane && span <= contention->long_span;
    int64_t taken = preempted(lane, span);

    contention->last_lane = lane;
    if (alone && !taken)
        return span;
    Lane_lose_step(lane);
    if (alone)
        return span - taken;
    if (span > 0 && lane->top->waited != FRAME_PARTIAL)
        lane->top->waited += span;
    return 0;
}

void Contention_init(struct Contention *contention, double hz)
{
    *contention = (struct Contention){.hz = hz, .preempted = true};
    Contention_share(contention, 0);
}

void Contention_share(struct Contention *contention, double turn_s)
{
    int64_t turn = turn_s > 0 ? (int64_t)(turn_s * contention->hz) : INT64_MAX;
    int64_t brief = (int64_t)(PREEMPTION_BRIEF_NS * 1e-9 * contention->hz);

    contention->long_span = turn;
    contention->brief_span = turn < brief ? turn : brief;
}

void Lane_note_caller(struct Lane *lane, struct Code *code)
{
    const struct Frame *frame = lane->top;

    code->hot.last_caller = frame->id;
    if (!frame->code)
        return;
    Registry_link(lane->registry, frame->code, code);
}

bool Lane_darken(struct Lane *lane, struct Code *code, uint64_t ticks)
{
    uint32_t i;

    if (code->hot.dark)
        return false;
    code->hot.dark = true;
    code->hot.closed = false;
    Code_refresh(code);
    code->hot.calls_exact = code->hot.exact = false;
    atomic_fetch_add_explicit(&code->cold.dark_times, 1, memory_order_relaxed);
    atomic_store_explicit(&code->cold.dark_from_ns, Code_sampled_ns(code),
                          memory_order_relaxed);
    for (i = 0; i < code->links.caller_count; i++) {
        struct Code *caller =
            Registry_by_id(lane->registry, code->links.callers[i]);

        if (caller)
            Code_gain_dark_callee(caller);
    }
    if (lane->ring)
        Ring_push(lane->ring, ticks, EVENT_DARK,
                  Event_call(code->hot.id, Lane_number(lane, lane->top) + 1));
    return true;
}

unsigned Lane_leave_kind(const struct Code *code, const struct Site *site)
{
    return site ? site->hook : Code_leave_hook(code);
}

void Lane_record_first(struct Code *code, uint64_t self)
{
    struct Histogram *histogram;

    if (Cell_get(&code->hot.self_calls) < 2)
        return;
    histogram = Heap_zeroed(1, sizeof *histogram);
    if (!histogram)
        return;
    if (Cell_get(&code->hot.self_calls) == 2 &&
        !Cell_get(&code->hot.waited_cycles))
        Histogram_add(histogram, Cell_get(&code->hot.self_cycles) - self);
    Histogram_add(histogram, self);
    Cell_add(&code->cold.grown_bytes, sizeof *histogram);
    // Pairs with the acquire of whoever builds a snapshot.
    atomic_store_explicit(&code->hot.histogram, histogram,
                          memory_order_release);
    Code_refresh(code);
}

bool Lane_is_open_below(const struct Lane *lane, const struct Frame *frame)
{
    const struct Frame *below;

    for (below = frame - 1; below > lane->bottom; below--)
        if (below->id == frame->id)
            return true;
    return false;
}

// Loops of frames that have gone, and inner loops of this one, have ended. A
// frame may begin at the very net time of one before it; what tells them apart
// then is that a frame's instructions only grow.
static void end_loops(struct Lane *lane, const struct Frame *frame,
                      uint32_t instructions, uint16_t head)
{
    uint32_t number = Lane_number(lane, frame);

    for (; lane->loop_count; lane->loop_count--) {
        const struct Loop *loop = &lane->loops[lane->loop_count - 1];

        if (loop->number < number)
            return;
        if (loop->number == number && loop->enter == frame->enter &&
            loop->head <= head &&
            (int32_t)(instructions - loop->instructions) > 0)
            return;
    }
}

// Net of its hooks a short iteration may come out at nothing or below: it took
// a tick, the least there is.
static uint64_t net_cycles(int64_t cycles)
{
    return cycles > 0 ? (uint64_t)cycles : 1;
}

void Lane_push_loop(struct Lane *lane, struct Frame *frame,
                    const struct Site *site, uint16_t head, int64_t now,
                    uint64_t ticks)
{
    uint16_t from = frame->code->layout.units[site->unit].number;
    uint16_t length = Frame_block_length(frame, frame->code, site);
    uint32_t instructions = frame->instructions + length;
    struct Loop *loop;

    if (head > from) // forwards
        return;
    end_loops(lane, frame, instructions, head);
    loop = lane->loop_count ? &lane->loops[lane->loop_count - 1] : NULL;
    if (!loop || loop->number != Lane_number(lane, frame) ||
        loop->head != head) {
        // A loop's first iteration began unseen: what is known is its last
        // block, which may have begun before the loop.
        uint16_t body = (uint16_t)(from - head + 1);

        if (lane->loop_count == LANE_LOOPS)
            return;
        loop = &lane->loops[lane->loop_count++];
        loop->enter = frame->enter;
        loop->number = Lane_number(lane, frame);
        loop->head = head;
        loop->start = now - (frame->self - frame->block);
        loop->instructions = instructions - (length < body ? length : body);
    }
    Ring_push(lane->ring, ticks, EVENT_LOOP,
              Event_loop(net_cycles(now - loop->start),
                         instructions - loop->instructions, site->unit));
    loop->start = now;
    loop->instructions = instructions;
}

// The frame's loop with that head, if it is under way.
static struct Loop *find_loop(struct Lane *lane, const struct Frame *frame,
                              uint16_t head)
{
    struct Loop *loop;

    end_loops(lane, frame, frame->instructions, head);
    loop = lane->loop_count ? &lane->loops[lane->loop_count - 1] : NULL;
    return loop && loop->number == Lane_number(lane, frame) &&
                   loop->head == head
               ? loop
               : NULL;
}

void Lane_step_loop(struct Lane *lane, const struct Frame *frame,
                    const struct Instruction *instruction, int64_t now,
                    uint64_t ticks)
{
    uint16_t number = frame->start;
    struct Loop *loop;

    if (instruction->flags & INSTRUCTION_HEAD &&
        !find_loop(lane, frame, number) && lane->loop_count < LANE_LOOPS)
        lane->loops[lane->loop_count++] =
            (struct Loop){.enter = frame->enter,
                          .start = now,
                          .number = Lane_number(lane, frame),
                          .instructions = frame->instructions - 1,
                          .head = number};
    if (!(instruction->flags & INSTRUCTION_LOOP))
        return;
    loop = find_loop(lane, frame, instruction->next);
    if (!loop) // its head is dark, or was run before our time
        return;
    Ring_push(lane->ring, ticks, EVENT_LOOP,
              Event_loop(net_cycles(now - loop->start),
                         frame->instructions - loop->instructions,
                         instruction->unit));
    loop->start = now;
    loop->instructions = frame->instructions;
}

struct Frame *Lane_attach(struct Lane *lane, struct Code *code, uint32_t depth,
                          int64_t now, uint64_t ticks)
{
    struct Frame *frame;

    if (lane->top == lane->limit && !Lane_grow(lane))
        return NULL;
    frame = ++lane->top;
    memset(frame, 0, sizeof *frame);
    frame->address = code->who.address;
    frame->code = code;
    frame->enter = now;
    frame->id = code->hot.id;
    frame->depth = depth;
    frame->epoch = code->hot.epoch;
    frame->waited = FRAME_PARTIAL;
    lane->active[code->hot.id % LANE_ACTIVE]++;
    Lane_emit(lane, ticks, EVENT_ENTER, frame, COURSE_WHOLE);
    return frame;
}
