// SPDX-License-Identifier: MIT
// All that belongs to one traced thread: its net clock, its shadow stack and
// its ring. What a hook does at each event is inlined from lane_call.h,
// lane_jump.h and lane_step.h; here is what those have in common, and what is
// rare. Only the thread itself runs it, with the interpreter's lock held; the
// collector reads the cells and drains the ring.
//
// Net clock: every hook adds its own calibrated cost to `debt`, and time is the
// counter less the debt, so that every difference is net of all hooks between.
// Depth stamps: a frame carries the interpreter's recursion depth; an event at
// depth d closes every frame that must have gone before it, so that frames
// which left unseen (dark leave sites, attaching in mid-run) heal by
// themselves.
#ifndef OCULAR_TRACER_HOOK_LANE_H
#define OCULAR_TRACER_HOOK_LANE_H

#include "tracer/code/code.h"
#include "tracer/hook/course.h"
#include "tracer/hook/frame.h"
#include "tracer/hook/preemption.h"
#include "tracer/hook/stacks.h"
#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define LANE_ACTIVE 1024 // counters of open frames, by function id modulo this
#define LANE_SEEN 64     // code objects remembered, by address
#define LANE_LOOPS 64    // nested loops followed for the timeline

struct Track;

// An iteration that is under way, of a loop that has jumped back before. Its
// frame is told by its place and its time.
struct Loop {
    int64_t enter; // its frame's
    int64_t start; // net clock
    uint32_t number;
    uint32_t instructions;
    uint16_t head; // number of the instruction it jumps to
};

// A code object seen lately. Cleared when it goes (Lane_forget), so that an
// address that matches is the code object itself.
struct Seen {
    uintptr_t address;
    struct Code *code;
};

// Shared by the lanes of a process; under the interpreter's lock.
struct Contention {
    const void *last_lane; // whose hook ran last
    int64_t brief_span;    // cycles that are believed without asking
    int64_t long_span;     // cycles above which others must have run; INT64_MAX
                           // while there is only one thread
    double hz;             // cycles a second
    bool preempted;        // other programs often take the CPU, or that is not
                           // known yet; the governor writes it
};

void Contention_init(struct Contention *contention, double hz);
// The process's threads take turns of so many seconds; 0: there is only one.
void Contention_share(struct Contention *contention, double turn_s);

struct Lane {
    struct Frame *top; // the bottom one is a sentinel of depth 0
    int64_t last;      // net clock of the newest event
    struct Contention *contention;
    int64_t cost[HOOK_KINDS]; // ticks
    struct Ring *ring;        // NULL unless a timeline is wanted
    struct Frame *limit;
    struct Frame *bottom;
    // The newest chunk of the interpreter's data stack, as the last event found
    // it. Another one is asked about: it may be another stack's (switch.h).
    uintptr_t chunk;
    cell_t debt;                // ticks spent in hooks
    cell_t unwound;             // frames that left unseen
    _Atomic size_t stack_bytes; // of all its stacks
    struct Registry *registry;
    uint16_t loop_count;
    struct Seen seen[LANE_SEEN];
    struct Loop loops[LANE_LOOPS];
    uint32_t active[LANE_ACTIVE]; // on all its stacks

    // Not the hot path's.
    cell_t kept; // ticks of the debt in which others had the CPU: no time of
                 // the program's, and no cost of ours
    struct Preemption preemption;
    struct Stack *stack;  // the one that top, limit and bottom are of; they are
                          // written back when it is parked
    struct Stack *spare;  // an empty one for the next greenlet, or NULL
    struct Stacks parked; // those of greenlets that do not run now
    struct Lane *stands_for; // the thread's own, while hooks are timed on this
                             // one (python/hooks/calibrate.h); or NULL
    uint64_t usual_ticks;    // that timing them takes
    unsigned number;
    pid_t tid;
    char name[64];         // under Lanes.mutex
    unsigned name_asks;    // left, until the program has named it; its thread's
    struct Track *track;   // in the timeline, NULL = not yet; the collector's
    uint64_t cpu_start_ns; // of its thread's CPU clock; under Lanes.mutex
    uint64_t cpu_end_ns;   // once it has ended
    _Atomic bool ended;    // its thread is gone; the collector may free it
    struct Lane *next;
};

// A lane for the calling thread. NULL when memory is out.
struct Lane *Lane_new(unsigned number, struct Registry *registry,
                      struct Contention *contention);
void Lane_free(struct Lane *lane);
// Memory of its shadow stacks; any thread.
static inline size_t Lane_stack_bytes(const struct Lane *lane)
{
    return atomic_load_explicit(&lane->stack_bytes, memory_order_relaxed);
}
// Forgets all open frames and starts counting from zero, at `ticks`.
void Lane_reset(struct Lane *lane, const int64_t cost[HOOK_KINDS],
                uint64_t ticks);
// The lane's thread ends; it runs no hook any more. Called by itself.
void Lane_end(struct Lane *lane);
// CPU time of its thread since Lane_restart_cpu; 0 where that cannot be known.
uint64_t Lane_cpu_ns(const struct Lane *lane);
void Lane_restart_cpu(struct Lane *lane);
// Drops the frames' pointers to a code object that is about to go, on parked
// stacks too.
void Lane_forget(struct Lane *lane, const struct Code *code);

// --- Out of the hot path's line ---

// Doubles the stack. false when memory is out: the frame is not pushed.
bool Lane_grow(struct Lane *lane);
// Closes the top frame, which left unseen before `ticks`.
void Lane_pop_unseen(struct Lane *lane, uint64_t ticks);
// The span is not to be believed: where another of the process's threads has
// run it goes to `waited`, and where another program had the CPU to nobody.
// Returns the part that is still self time.
int64_t Lane_doubt(struct Lane *lane, int64_t span);
// A new caller of `code`: the edge is recorded, and the caller is told where
// `code` is dark.
void Lane_note_caller(struct Lane *lane, struct Code *code);
// The threshold is reached. true: the frame is still to be pushed.
bool Lane_darken(struct Lane *lane, struct Code *code, uint64_t ticks);
void Lane_record_first(struct Code *code, uint64_t self);
// enum HookKind of what leaves at `site`; NULL: an exception.
unsigned Lane_leave_kind(const struct Code *code, const struct Site *site);
void Lane_push_loop(struct Lane *lane, struct Frame *frame,
                    const struct Site *site, uint16_t head, int64_t now,
                    uint64_t ticks);
// Precise mode: the instruction that the frame on top runs is not timed.
void Lane_lose_step(struct Lane *lane);
// Precise mode, with a timeline: an instruction where a loop begins or ends.
void Lane_step_loop(struct Lane *lane, const struct Frame *frame,
                    const struct Instruction *instruction, int64_t now,
                    uint64_t ticks);
// Another frame of the function is open below this one, on the same stack.
// Asked only where the counters of open frames leave it open: recursion, two
// ids that share one, a function that is open on a parked stack.
bool Lane_is_open_below(const struct Lane *lane, const struct Frame *frame);
// A frame of which the enter was not seen (started in its middle).
struct Frame *Lane_attach(struct Lane *lane, struct Code *code, uint32_t depth,
                          int64_t now, uint64_t ticks);

// --- What each event on the hot path does ---

OCULAR_HOT struct Seen *Lane_seen(struct Lane *lane, uintptr_t address)
{
    return &lane->seen[(address >> 5) % LANE_SEEN];
}

// No other lane's hook has run since this one's last.
OCULAR_HOT bool Lane_is_alone(const struct Lane *lane, enum Course course)
{
    return lane->contention->last_lane == lane &&
           (course != COURSE_PLAIN_TIMELINE || lane->ring);
}

// The span since the last event is too short for others to have had the
// interpreter, or the CPU, for a time that matters.
OCULAR_HOT bool Lane_is_brief(const struct Lane *lane, uint64_t ticks)
{
    return (int64_t)(ticks - Cell_own(&lane->debt)) - lane->last <=
           lane->contention->brief_span;
}

// Starts an event of a kind (enum HookKind): the net time; the span since the
// last event goes to the frame on top.
OCULAR_HOT int64_t Lane_advance(struct Lane *lane, uint64_t ticks,
                                unsigned kind, enum Course course)
{
    uint64_t debt = Cell_own(&lane->debt);
    int64_t now = (int64_t)(ticks - debt);
    int64_t span = now - lane->last;

    Cell_set(&lane->debt, debt + (uint64_t)lane->cost[kind]);
    lane->last = now;
    if (OCULAR_TURN(course, lane->contention->last_lane != lane ||
                                span > lane->contention->brief_span))
        span = Lane_doubt(lane, span);
    lane->top->self += span;
    return now;
}

static inline unsigned Lane_number(const struct Lane *lane,
                                   const struct Frame *frame)
{
    return (unsigned)(frame - lane->bottom - 1);
}

OCULAR_HOT void Lane_emit(struct Lane *lane, uint64_t ticks,
                          enum EventKind kind, const struct Frame *frame,
                          enum Course course)
{
    if (course == COURSE_PLAIN_TIMELINE ||
        OCULAR_TURN(course, lane->ring != NULL))
        Ring_push(lane->ring, ticks, kind,
                  Event_call(frame->id, Lane_number(lane, frame)));
}

OCULAR_HOT void Lane_pop(struct Lane *lane)
{
    lane->active[lane->top->id % LANE_ACTIVE]--;
    lane->top--;
}

// Instructions of the block that ends at `site`.
OCULAR_HOT uint16_t Frame_block_length(const struct Frame *frame,
                                       const struct Code *code,
                                       const struct Site *site)
{
    uint16_t length =
        (uint16_t)(code->layout.units[site->unit].number - frame->start + 1);

    // A loop that ended through its FOR_ITER ended unseen: its body, between
    // start and site in address order, was not run.
    return length < site->reach ? length : site->reach;
}

// The frame an event at `depth` in `code` belongs to, or NULL if its enter was
// not seen. Frames above it left unseen.
static inline struct Frame *Lane_find(struct Lane *lane, struct Code *code,
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

#endif
