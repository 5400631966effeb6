// SPDX-License-Identifier: MIT
// All that belongs to one traced thread: its net clock, its shadow stack and
// its ring. The inline part is the hot path: what a hook does at each event.
// Only the thread itself runs it, with the interpreter's lock held; the
// collector reads the cells and drains the ring.
//
// Net clock: every hook adds its own calibrated cost to `debt`, and time is the
// counter less the debt, so that every difference is net of all hooks between.
// Depth stamps: a frame carries the interpreter's recursion depth; an event at
// depth d closes every frame that must have gone before it, so that frames
// which left unseen (dark leave sites, attaching in mid-run) heal by
// themselves.
#ifndef OCULAR_TRACER_LANE_H
#define OCULAR_TRACER_LANE_H

#include "tracer/code.h"
#include "tracer/ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LANE_ACTIVE 1024 // counters of open frames, by function id modulo this
#define LANE_LOOPS 64    // nested loops followed for the timeline

enum HookKind { HOOK_ENTER, HOOK_LEAVE, HOOK_JUMP, HOOK_BRANCH, HOOK_KINDS };

enum FrameFlag {
    FRAME_OUTERMOST = 1, // no other open frame of its function below
    FRAME_PARTIAL = 2,   // seen only from its middle: no call statistics
    FRAME_WAITED = 4     // another thread ran in one of its spans
};

// Ordered so that a push is a few wide stores.
struct Frame {
    struct Code *code;     // NULL once its code object is gone
    int64_t enter;         // net clock
    int64_t self;          // net cycles so far
    int64_t block;         // self where the running block began
    int64_t waited;        // cycles of spans in which another thread ran
    uint64_t instructions; // in the blocks that ended so far
    uint32_t id;
    uint32_t depth;
    uint16_t start; // number of the running block's first instruction
    uint16_t epoch; // of its code when it was entered
    uint16_t flags; // enum FrameFlag
    uint16_t loops; // the lane's loop_count when it was entered
};

// An iteration that is under way, of a loop that has jumped back before.
struct Loop {
    int64_t start; // net clock
    uint64_t instructions;
    uint16_t head; // number of the instruction it jumps to
};

// Shared by the lanes of a process; under the interpreter's lock.
struct Contention {
    const void *last_lane; // whose hook ran last
    int64_t long_span;     // cycles above which others must have run; INT64_MAX
                           // while there is only one thread
};

struct Lane {
    struct Frame *top; // the bottom one is a sentinel of depth 0
    int64_t last;      // net clock of the newest event
    struct Contention *contention;
    int64_t cost[HOOK_KINDS]; // ticks
    struct Ring *ring;        // NULL unless a timeline is wanted
    struct Frame *limit;
    struct Frame *bottom;
    _Atomic size_t stack_bytes;
    cell_t debt;    // ticks spent in hooks
    cell_t events;  // hooks run
    cell_t unwound; // frames that left unseen
    struct Registry *registry;
    uint16_t loop_count;
    struct Loop loops[LANE_LOOPS];
    uint16_t active[LANE_ACTIVE];

    // Not the hot path's.
    unsigned number;
    pid_t tid;
    char name[64];
    bool named;         // the timeline knows it; the collector's
    _Atomic bool ended; // its thread is gone; the collector may free it
    struct Lane *next;
};

// A lane for the calling thread. NULL when memory is out.
struct Lane *Lane_new(unsigned number, struct Registry *registry,
                      struct Contention *contention);
void Lane_free(struct Lane *lane);
// Memory of its shadow stack; any thread.
static inline size_t Lane_stack_bytes(const struct Lane *lane)
{
    return atomic_load_explicit(&lane->stack_bytes, memory_order_relaxed);
}
// Forgets all open frames and starts counting from zero, at `ticks`.
void Lane_reset(struct Lane *lane, const int64_t cost[HOOK_KINDS],
                uint64_t ticks);
// Drops the frames' pointers to a code object that is about to go.
void Lane_forget(struct Lane *lane, const struct Code *code);

// --- Out of the hot path's line ---

// Doubles the stack. false when memory is out: the frame is not pushed.
bool Lane_grow(struct Lane *lane);
// Closes the top frame, which left unseen before `ticks`.
void Lane_pop_unseen(struct Lane *lane, uint64_t ticks);
// Another thread has run: gives the span to `waited`. Returns the part that is
// still self time.
int64_t Lane_wait(struct Lane *lane, int64_t span);
// A new caller of `code`: the edge is recorded, and the caller is told where
// `code` is dark.
void Lane_note_caller(struct Lane *lane, struct Code *code);
// The threshold is reached. true: the frame is still to be pushed.
bool Lane_darken(struct Lane *lane, struct Code *code, uint64_t ticks);
void Lane_record_first(struct Code *code, uint64_t self);
void Lane_push_loop(struct Lane *lane, struct Frame *frame,
                    const struct Site *site, uint16_t head, int64_t now,
                    uint64_t ticks);
// A frame of which the enter was not seen (started in its middle).
struct Frame *Lane_attach(struct Lane *lane, struct Code *code, uint32_t depth,
                          int64_t now, uint64_t ticks);

// --- The hot path ---

// Inlined into the callbacks whatever its size: a call more would cost it its
// registers.
#define OCULAR_HOT static inline __attribute__((always_inline))
#define OCULAR_LIKELY(x) __builtin_expect(!!(x), 1)
#define OCULAR_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Starts an event: the net time; the span since the last event goes to the
// frame on top.
OCULAR_HOT int64_t Lane_tick(struct Lane *lane, uint64_t ticks,
                             enum HookKind kind)
{
    uint64_t debt = Cell_get(&lane->debt);
    int64_t now = (int64_t)(ticks - debt);
    int64_t span = now - lane->last;

    Cell_set(&lane->debt, debt + (uint64_t)lane->cost[kind]);
    Cell_add(&lane->events, 1);
    lane->last = now;
    if (OCULAR_UNLIKELY(lane->contention->last_lane != lane ||
                        span > lane->contention->long_span))
        span = Lane_wait(lane, span);
    lane->top->self += span;
    return now;
}

static inline unsigned Lane_number(const struct Lane *lane,
                                   const struct Frame *frame)
{
    return (unsigned)(frame - lane->bottom - 1);
}

OCULAR_HOT void Lane_emit(struct Lane *lane, uint64_t ticks,
                          enum EventKind kind, const struct Frame *frame)
{
    if (OCULAR_UNLIKELY(lane->ring != NULL))
        Ring_push(lane->ring, ticks, kind,
                  Event_call(frame->id, Lane_number(lane, frame)));
}

// A call, a resumption or a throw into a generator. true: DISABLE the site.
OCULAR_HOT bool Lane_enter(struct Lane *lane, struct Code *code, uint32_t depth,
                           uint16_t start, uint64_t ticks)
{
    int64_t now = Lane_tick(lane, ticks, HOOK_ENTER);
    uint64_t calls = Cell_add(&code->calls, 1);
    struct Frame *frame;
    bool disable = false;

    Cell_set(&code->last_seen, ticks);
    while (OCULAR_UNLIKELY(lane->top->depth >= depth))
        Lane_pop_unseen(lane, ticks);
    if (OCULAR_UNLIKELY(code->last_caller != lane->top->id))
        Lane_note_caller(lane, code);
    if (OCULAR_UNLIKELY(calls >= code->stop_at)) {
        if (!Lane_darken(lane, code, ticks))
            return true;
        disable = true;
    }
    if (OCULAR_UNLIKELY(lane->top == lane->limit) && !Lane_grow(lane))
        return disable;
    frame = ++lane->top;
    frame->code = code;
    frame->enter = now;
    frame->self = 0;
    frame->block = 0;
    frame->waited = 0;
    frame->instructions = 0;
    frame->id = code->id;
    frame->depth = depth;
    frame->start = start;
    frame->epoch = code->epoch;
    frame->flags = lane->active[code->id % LANE_ACTIVE]++ ? 0 : FRAME_OUTERMOST;
    frame->loops = lane->loop_count;
    Lane_emit(lane, ticks, EVENT_ENTER, frame);
    return disable;
}

// May the frame's cycles count as its function's self and block cycles?
static inline bool Frame_is_clean(const struct Frame *frame,
                                  const struct Code *code)
{
    return frame->epoch == code->epoch && !code->dark_callees;
}

// A block ended at `site`. Returns its instructions.
OCULAR_HOT void Lane_end_block(struct Frame *frame, struct Code *code,
                               struct Site *site)
{
    uint16_t length =
        (uint16_t)(code->units[site->unit].number - frame->start + 1);

    frame->instructions += length;
    if (OCULAR_LIKELY(Frame_is_clean(frame, code))) {
        Cell_add(&site->cycles, (uint64_t)(frame->self - frame->block));
        Cell_add(&site->instructions, length);
    }
    frame->block = frame->self;
}

// Books a call that ended in the sight of a hook.
OCULAR_HOT void Lane_record(struct Frame *frame, struct Code *code, int64_t now)
{
    if (OCULAR_UNLIKELY(frame->flags & FRAME_PARTIAL))
        return;
    if (OCULAR_LIKELY(Frame_is_clean(frame, code))) {
        uint64_t self = frame->self > 0 ? (uint64_t)frame->self : 0;
        struct Histogram *histogram =
            atomic_load_explicit(&code->histogram, memory_order_relaxed);

        Cell_add(&code->self_calls, 1);
        Cell_add(&code->self_cycles, self);
        if (OCULAR_UNLIKELY(frame->flags & FRAME_WAITED)) {
            Cell_add(&code->waited_cycles, (uint64_t)frame->waited);
        } else {
            if (OCULAR_UNLIKELY(self < Cell_get(&code->min_cycles)))
                Cell_set(&code->min_cycles, self);
            if (OCULAR_LIKELY(histogram != NULL))
                Histogram_add(histogram, self);
            else
                Lane_record_first(code, self);
        }
    }
    if (frame->flags & FRAME_OUTERMOST) {
        int64_t total = now - frame->enter;

        Cell_add(&code->total_calls, 1);
        Cell_add(&code->total_cycles, total > 0 ? (uint64_t)total : 0);
    }
}

static inline void Lane_pop(struct Lane *lane)
{
    struct Frame *frame = lane->top--;

    lane->active[frame->id % LANE_ACTIVE]--;
    lane->loop_count = frame->loops;
}

// The frame an event at `depth` in `code` belongs to, or NULL if its enter was
// not seen. Frames above it left unseen.
OCULAR_HOT struct Frame *Lane_find(struct Lane *lane, struct Code *code,
                                   uint32_t depth, uint64_t ticks)
{
    while (OCULAR_UNLIKELY(lane->top->depth > depth))
        Lane_pop_unseen(lane, ticks);
    if (OCULAR_LIKELY(lane->top->code == code && lane->top->depth == depth))
        return lane->top;
    if (lane->top->depth == depth)
        Lane_pop_unseen(lane, ticks);
    return NULL;
}

// A return, a yield (site != NULL) or an exception that leaves the frame
// (site == NULL, which has no site to disable). true: DISABLE the site.
OCULAR_HOT bool Lane_leave(struct Lane *lane, struct Code *code,
                           struct Site *site, uint32_t depth, uint64_t ticks)
{
    int64_t now = Lane_tick(lane, ticks, HOOK_LEAVE);
    struct Frame *frame = Lane_find(lane, code, depth, ticks);
    bool dark = code->dark;

    if (OCULAR_LIKELY(frame != NULL)) {
        if (OCULAR_LIKELY(!code->closed)) {
            if (OCULAR_LIKELY(site != NULL))
                Lane_end_block(frame, code, site);
            Lane_record(frame, code, now);
            Lane_emit(lane, ticks, site ? EVENT_LEAVE : EVENT_RAISE, frame);
            Lane_pop(lane);
        } else {
            Lane_pop_unseen(lane, ticks);
        }
    }
    if (OCULAR_LIKELY(site != NULL)) {
        Cell_add(&site->hits, 1);
        if (OCULAR_UNLIKELY(dark)) {
            code->closed = true;
            atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
        }
    }
    return dark;
}

// A jump or a branch from `site` to the instruction numbered `to`. true:
// DISABLE the site.
OCULAR_HOT bool Lane_jump(struct Lane *lane, struct Code *code,
                          struct Site *site, uint16_t to, uint32_t depth,
                          uint64_t ticks, enum HookKind kind)
{
    int64_t now = Lane_tick(lane, ticks, kind);
    struct Frame *frame = Lane_find(lane, code, depth, ticks);
    uint64_t hits = Cell_add(&site->hits, 1);

    Cell_set(&code->last_seen, ticks);
    if (OCULAR_UNLIKELY(!frame)) {
        // Its caller, if that is on the stack, now knows of a dark callee.
        if (code->last_caller != lane->top->id)
            Lane_note_caller(lane, code);
        if (!code->dark)
            frame = Lane_attach(lane, code, depth, now, ticks);
        if (frame)
            frame->start = to;
    } else {
        if (OCULAR_UNLIKELY(lane->ring != NULL))
            Lane_push_loop(lane, frame, site, to, now, ticks);
        Lane_end_block(frame, code, site);
        frame->start = to;
    }
    if (OCULAR_LIKELY(hits < site->stop_at))
        return false;
    atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
    if (!site->redundant)
        code->exact = false;
    return true;
}

#endif
