// SPDX-License-Identifier: MIT
#include "tracer/sample/attribution.h"

#include "ipc/base/heap.h"
#include "tracer/base/lines.h"
#include "tracer/base/rcu.h"
#include "tracer/code/c_calls.h"
#include "tracer/code/means.h"

#include <math.h>
#include <string.h>

// A tag is wanted in a thread after this number of ns of CPU time.
#define ALIKE_NS 100e6

uint32_t Attribution_unit(const struct Attribution *attribution,
                          const struct Code *code,
                          const struct WalkFrame *frame)
{
    uintptr_t offset =
        frame->instruction - code->who.address - attribution->code_bytecode;

    return offset % 2 == 0 && offset / 2 < code->layout.unit_count
               ? (uint32_t)(offset / 2)
               : UINT32_MAX;
}

// Returns the code object of a frame, or NULL if no time may be credited to it.
static struct Code *code_of(const struct Attribution *attribution,
                            const struct SampledStack *stack, unsigned frame)
{
    return Registry_find_at(attribution->registry, stack->frames[frame].code,
                            stack->newest_id, stack->ticks);
}

// --- What the innermost frame does -------------------------------------------

// The instruction that the innermost frame of a stack has reached.
struct Place {
    // Flags of the base opcode, or 0 if the instruction is unknown.
    uint16_t flags;
    // Id of the function that the instruction calls, as earlier samples have
    // shown, or 0 if unknown.
    uint32_t callee;
    struct Code *code; // Code of the innermost frame, or NULL.
    uint16_t number;   // Number of the instruction.
    uintptr_t at;      // Address of the instruction.
    // Only on 3.12: true if the callee's frame is ending by a return or an
    // exception.
    bool returning;
    bool garbage; // True if the innermost frame is a garbage collection.
};

// Returns the number of the code unit that holds the opcode of the instruction
// at the code unit `unit`. `unit` may also be an inline cache or an
// EXTENDED_ARG of this instruction. On CPython 3.12, a frame is at the last
// cache of its call instruction during the call.
static uint32_t opcode_unit(const struct Attribution *attribution,
                            const struct Code *code, uint32_t unit)
{
    const struct Unit *units = code->layout.units;
    const uint16_t *flags = attribution->opcodes->flags;
    uint32_t first = unit;

    while (first > 0 && units[unit].number > 0 &&
           units[first - 1].number == units[unit].number)
        first--;
    while (first < unit &&
           flags[code->who.bytecode[2 * first]] & OPCODE_EXTENDED)
        first++;
    return first;
}

static struct Place find_place(const struct Attribution *attribution,
                               const struct SampledStack *stack)
{
    const uint16_t *flags = attribution->opcodes->flags;
    const struct WalkFrame *frame = &stack->frames[0];
    struct Code *code = code_of(attribution, stack, 0);
    uint32_t unit =
        code ? Attribution_unit(attribution, code, frame) : UINT32_MAX;
    uint16_t number;
    uint32_t first;

    if (code && code->who.garbage)
        return (struct Place){.garbage = true};
    if (unit == UINT32_MAX)
        return (struct Place){0};
    first = opcode_unit(attribution, code, unit);
    number = code->layout.units[unit].number;
    return (struct Place){
        .flags = flags[code->who.bytecode[2 * first]],
        .callee = code->share.callees ? code->share.callees[number] : 0,
        .code = code,
        .number = number,
        .at = frame->instruction - (uintptr_t)2 * (unit - first),
        .returning = first != unit,
    };
}

// A specialised call instruction in the bytecode. In CPython, struct
// _PyCallCache (pycore_code.h) comes after the instruction's opcode and
// argument.
struct LiveCall {
    uint8_t opcode, argument;
    uint16_t counter;
    // Version of the function for which the call instruction is specialised.
    uint32_t version;
};

// Pushes a frame of the function onto the stack. Returns false if the innermost
// frame is already a frame of the function.
static bool push(const struct Attribution *attribution,
                 struct SampledStack *stack, const struct Code *code)
{
    struct WalkFrame top = {code->who.address,
                            code->who.address + attribution->code_bytecode};

    if (stack->depth > 0 && stack->frames[0].code == top.code)
        return false;
    if (stack->depth == WALK_DEPTH) {
        stack->depth--;
        stack->cut = true;
    }
    stack->tag.frame++;
    memmove(stack->frames + 1, stack->frames,
            stack->depth * sizeof(stack->frames[0]));
    stack->frames[0] = top;
    stack->depth++;
    return true;
}

// Returns true if one more sample may count as taken while CPython pushed or
// popped the function's frame. A call of an empty function is little more than
// a push and a pop. Samples therefore count as a push or a pop only for as much
// time as the function's calls would take if the function were empty. Samples
// beyond this limit were taken while CPython freed the function's arguments and
// locals. Samples beyond the limit count for the caller, because CPython frees
// arguments and locals after the return event.
static bool takes_entry(const struct Attribution *attribution,
                        const struct Code *code)
{
    double calls = (double)Counter_get(&code->hot.self_calls);
    double cycles = (double)Counter_get(&code->hot.self_cycles);

    double samples = (double)Counter_get(&code->share.run_samples) +
                     Code_called_samples(code);

    return !(cycles > 0) || code->share.entry_samples * cycles <=
                                samples * calls * attribution->call_ticks;
}

// Returns true if the innermost frame is at a call instruction that runs a C
// function. An instruction that is specialised for Python functions runs no C
// function. An instruction that is specialised for Python functions is about to
// push its callee's frame, or has just popped this frame. The time of the push
// and the pop counts for the callee, because the callee's cycles also contain
// the push and the pop. calls_c() pushes the callee onto the stack, so that
// this time counts for the callee, within the limit of takes_entry().
static bool calls_c(const struct Attribution *attribution,
                    struct SampledStack *stack, const struct Place *place)
{
    const struct Code *callee = NULL;
    struct LiveCall live;
    uint16_t flags;

    if (!Memory_read(attribution->memory, place->at, &live, sizeof live))
        return true;
    flags = attribution->opcodes->flags[live.opcode];
    if (!(flags & OPCODE_PUSHES) && !place->returning)
        return true;
    if (flags & OPCODE_VERSIONED)
        callee = Registry_by_version(attribution->registry, live.version);
    if (!callee && place->callee)
        callee = Registry_by_id(attribution->registry, place->callee);
    if (callee && takes_entry(attribution, callee))
        stack->entering = push(attribution, stack, callee);
    return false;
}

// Pushes the C function that the innermost frame has called onto the stack, if
// the function is known.
static void push_c(const struct Attribution *attribution,
                   struct SampledStack *stack, const struct Place *place)
{
    uint32_t id = place->code ? CCalls_choose(place->code, place->number,
                                              attribution->registry)
                              : 0;
    const struct Code *code =
        id ? Registry_by_id(attribution->registry, id) : NULL;

    if (code && !Code_is_after(code, stack->newest_id))
        push(attribution, stack, code);
}

bool Attribution_can_find_more(const struct Attribution *attribution,
                               const struct SampledStack *stack)
{
    bool all = true;

    if (stack->newest_id == Registry_newest_id(attribution->registry))
        return false;
    Rcu_read_lock();
    for (unsigned i = 0; i < stack->depth && all; i++)
        all = code_of(attribution, stack, i);
    Rcu_read_unlock();
    return !all;
}

void Attribution_judge(const struct Attribution *attribution,
                       struct SampledStack *stack, bool active)
{
    struct Place place;

    stack->in_c = stack->in_garbage = stack->entering = false;
    stack->waits_to_run = active;
    if (stack->depth == 0)
        return;
    Rcu_read_lock();
    place = find_place(attribution, stack);
    stack->waits_to_run = active || place.flags & (OPCODE_RESUME | OPCODE_LOOP);
    stack->in_garbage = place.garbage;
    stack->in_c =
        place.garbage || // CPython's garbage collector is C code.
        (place.flags & OPCODE_CALL && calls_c(attribution, stack, &place));
    if (stack->in_c && !place.garbage)
        push_c(attribution, stack, &place);
    Rcu_read_unlock();
}

// --- Whose time it is --------------------------------------------------------

// Allocates a function's counters at its first sample. Returns the function's
// ShareParts, or NULL if there is no memory. If the allocation fails, a later
// sample tries again.
static struct ShareParts *prepare(struct Code *code)
{
    struct Share *share = &code->share;
    size_t count = Code_instruction_count(code);
    // The first half of this array counts all samples of an instruction, and
    // the second half counts the samples that found C code called by the
    // instruction.
    size_t samples = 2 * count;
    struct ShareParts *parts = Share_own_parts(share);
    void *room;

    if (!parts || atomic_load_explicit(&parts->callers, memory_order_relaxed))
        return parts;
    // The release stores of `instruction_samples` and `callers` pair with the
    // acquire load of a reader.
    if (!Code_instruction_samples(code)) {
        room = Heap_zeroed(samples + 1, sizeof(*share->instruction_samples));
        atomic_store_explicit(&share->instruction_samples, room,
                              memory_order_release);
    }
    if (!share->callees)
        share->callees = Heap_zeroed(count + 1, sizeof(*share->callees));
    if (!Code_instruction_samples(code) || !share->callees)
        return parts;
    room = Heap_zeroed(1, sizeof(struct Breakdown));
    atomic_store_explicit(&parts->callers, room, memory_order_release);
    return parts;
}

// Reports a caller of a function that has no hooks (is dark), because no hook
// reports its caller. The sampler must find the pair of caller and callee
// twice, because a single torn stack may show a wrong caller.
static void report_edge(struct Attribution *attribution,
                        struct BreakdownPart *part, const struct Code *caller,
                        const struct Code *callee)
{
    struct CallEdge edge = {caller->hot.id, callee->hot.id};

    if (part->reported || part->seen < 2 ||
        !atomic_load_explicit(&callee->hot.dark, memory_order_relaxed))
        return;
    part->reported = CallEdges_push(attribution->edges, edge);
}

// Stores that the call instruction in the second innermost frame calls the
// function of the innermost frame.
static void learn_callee(const struct Attribution *attribution,
                         const struct SampledStack *stack, struct Code *caller,
                         const struct Code *callee)
{
    uint32_t unit = Attribution_unit(attribution, caller, &stack->frames[1]);

    if (caller->share.callees && unit != UINT32_MAX)
        caller->share.callees[caller->layout.units[unit].number] =
            callee->hot.id;
}

// The CPU time and the waiting time of one sample, as credits for shares.
struct SampleTime {
    struct ShareCredit all, ran, waited;
    // The part of `waited` in which the thread waited for the GIL or for a CPU.
    struct ShareCredit to_run;
    // The parts of `ran` that were spent in C functions and in the garbage
    // collector.
    struct ShareCredit in_c, in_garbage;
    // `of_kind` is the wait of the kind `kind`, and `starved` is the wait for a
    // CPU. `of_kind` and `starved` also include the waits of samples whose kind
    // of wait is not known.
    enum WaitKind kind;
    struct ShareCredit of_kind, starved;
    struct TaskOfStack task; // The task that ran.
    // Index of the frame of the innermost Python function.
    unsigned frame;
    // ns for which the calls on the stack stay, and for which those stay that
    // have begun before the tag, or 0 if they do not count (ShareStill).
    uint64_t still_ns, tagged_ns;
};

static void init_time(struct SampleTime *time, const struct SampledStack *stack,
                      const struct ShareTime *now, double cpu_ns,
                      double wait_ns)
{
    double to_run = wait_ns * (stack->waits_to_run ? 1 : stack->starved);

    time->task = (struct TaskOfStack){.group = NULL};
    ShareCredit_init(&time->all, now, cpu_ns + wait_ns);
    ShareCredit_init(&time->ran, now, cpu_ns);
    ShareCredit_init(&time->waited, now, wait_ns);
    ShareCredit_init(&time->to_run, now, to_run);
    ShareCredit_init(&time->in_c, now,
                     stack->in_c && !stack->in_garbage ? cpu_ns : 0);
    ShareCredit_init(&time->in_garbage, now, stack->in_garbage ? cpu_ns : 0);
    ShareCredit_init(&time->of_kind, now, stack->kind_ns);
    ShareCredit_init(&time->starved, now, stack->starved_ns);
}

// Credits a sample's waiting time to the kind of the wait. `own` is true for
// the function that waits itself, and false for its callers.
static void credit_waits(struct ShareParts *parts, struct SampleTime *time,
                         bool own)
{
    bool known = time->kind != WAIT_UNKNOWN || time->starved.ns > 0;
    struct ShareWaits *waits;
    struct ShareValue *values;

    if (!(time->waited.ns > 0) || !known)
        return;
    waits = Share_own_waits(parts);
    if (!waits)
        return;
    values = own ? waits->own : waits->total;
    if (time->kind != WAIT_UNKNOWN)
        ShareValue_credit(&values[time->kind], &time->of_kind);
    ShareValue_credit(&values[WAITS_CPU], &time->starved);
}

static void credit_cumulative(struct ShareParts *parts, struct SampleTime *time)
{
    ShareValue_credit(&parts->cumulative, &time->all);
    ShareValue_credit(&parts->cumulative_wait, &time->waited);
    ShareValue_credit(&parts->cumulative_c, &time->in_c);
    ShareValue_credit(&parts->cumulative_gc, &time->in_garbage);
    credit_waits(parts, time, false);
}

// Returns true if a coroutine's frame runs because of a call, and not because
// its caller awaits it. A call of a coroutine function only makes the
// coroutine, so the frame must be behind the RESUME with which it begins.
static bool is_called(const struct Attribution *attribution,
                      const struct Code *caller, const struct WalkFrame *by,
                      const struct Code *code, const struct WalkFrame *frame)
{
    const uint16_t *flags = attribution->opcodes->flags;
    uint32_t unit = Attribution_unit(attribution, code, frame), at = 0;

    while (at < unit && at < code->layout.unit_count &&
           !(flags[code->who.bytecode[2 * at]] & OPCODE_RESUME))
        at++;
    if (at >= unit || unit == UINT32_MAX)
        return false;
    if (!caller || caller->hot.enter_hook != HOOK_RESUME)
        return true;
    unit = Attribution_unit(attribution, caller, by);
    return unit != UINT32_MAX &&
           flags[caller->who
                     .bytecode[2 * opcode_unit(attribution, caller, unit)]] &
               OPCODE_CALL;
}

// Credits each function on the stack once, at its outermost frame. The loop
// goes from the outermost frame to the innermost. Writes the ids of the stack's
// functions into *path. Sets *top to the index of the innermost frame whose
// code object is known, and returns this code object. Returns NULL if no frame
// has a known code object.
static struct Code *add_stack(struct Attribution *attribution,
                              const struct SampledStack *stack,
                              const struct ShareTime *now,
                              struct SampleTime *time, struct FlameSample *path,
                              unsigned *top)
{
    struct Code *caller = NULL;
    unsigned caller_at = 0;
    uint32_t *ids = (uint32_t *)path->path;
    bool tasks = time->ran.ns > 0 && atomic_load_explicit(&attribution->tasks,
                                                          memory_order_relaxed);

    attribution->stamp++;
    if (stack->cut)
        ids[path->depth++] = 0;
    for (unsigned i = stack->depth; i-- > 0;) {
        struct Code *code = code_of(attribution, stack, i);
        struct ShareParts *parts;
        struct Breakdown *callers;
        uint64_t still_ns;

        if (!code)
            continue;
        *top = i;
        ids[path->depth++] = code->hot.id;
        if (tasks)
            TaskOfStack_pass(&time->task, code, stack->depth - i,
                             code->who.coroutine &&
                                 is_called(attribution, caller,
                                           &stack->frames[caller_at], code,
                                           &stack->frames[i]));
        if (code->share.stamp != attribution->stamp) {
            code->share.stamp = attribution->stamp;
            parts = prepare(code);
            if (parts)
                credit_cumulative(parts, time);
            still_ns = i < stack->tag.frame ? time->still_ns : time->tagged_ns;
            if (parts && still_ns && code->who.own)
                ShareStill_add(
                    &parts->still, attribution->turn, still_ns,
                    stack->still_until_ns,
                    Attribution_unit(attribution, code, &stack->frames[i]));
            callers = parts ? parts->callers : NULL;
            if (callers && caller)
                report_edge(
                    attribution,
                    Breakdown_add(callers, caller->hot.id, now, &time->all),
                    caller, code);
            else if (callers && stack->cut)
                Breakdown_add(callers, 0, now, &time->all);
            Code_touch(code);
        }
        if (i == 0 && caller_at == 1 && !Code_is_stand_in(code))
            learn_callee(attribution, stack, caller, code);
        caller = code;
        caller_at = i;
    }
    return caller;
}

static void count_one(_Atomic uint32_t *count)
{
    uint32_t seen = atomic_load_explicit(count, memory_order_relaxed);

    if (seen < UINT32_MAX)
        atomic_store_explicit(count, seen + 1, memory_order_relaxed);
}

uint32_t Attribution_line(const struct Attribution *attribution,
                          const struct Code *code, uint32_t unit)
{
    struct LineReader lines;

    if (unit == UINT32_MAX)
        return 0;
    LineReader_init(&lines, code->who.line_table, code->who.line_table_size,
                    code->who.line);
    return LineReader_line(&lines, opcode_unit(attribution, code, unit));
}

// Stores the innermost function's instruction in the sample, for the sample's
// consumer.
static void tell_instruction(const struct Attribution *attribution,
                             const struct Code *code, uint32_t unit,
                             struct FlameSample *path)
{
    if (!attribution->sink.take && !attribution->native_count)
        return;
    path->unit = opcode_unit(attribution, code, unit);
    path->opcode = code->who.bytecode[(size_t)2 * path->unit];
    path->line = Attribution_line(attribution, code, unit);
}

static void count_instruction(const struct Attribution *attribution,
                              struct Code *code, const struct WalkFrame *frame,
                              bool in_c, struct FlameSample *path)
{
    _Atomic uint32_t *samples = code->share.instruction_samples;
    uint32_t unit = Attribution_unit(attribution, code, frame);

    if (!samples || unit == UINT32_MAX)
        return;
    tell_instruction(attribution, code, unit, path);
    samples += code->layout.units[unit].number;
    count_one(samples);
    if (in_c)
        count_one(samples + Code_instruction_count(code));
}

// Functions that wait only for new work, such as jobs, connections or signals.
static const struct {
    const char *name, *file; // `file` is the end of a path.
} IDLE_FUNCTIONS[] = {
    {"_worker", "/concurrent/futures/thread.py"},
    {"BaseServer.serve_forever", "/socketserver.py"},
    {"SyncWorker.wait", "/gunicorn/workers/sync.py"},
    {"ThreadWorker.run", "/gunicorn/workers/gthread.py"},
    {"Arbiter.sleep", "/gunicorn/arbiter.py"},
    // The names since gunicorn 24.
    {"ThreadWorker.wait_for_and_dispatch_events",
     "/gunicorn/workers/gthread.py"},
    {"Arbiter.wait_for_signals", "/gunicorn/arbiter.py"},
};

static bool is_in(const struct Code *code, const char *file)
{
    size_t size = code->who.file ? strlen(code->who.file) : 0;
    size_t least = strlen(file);

    return size >= least && strcmp(code->who.file + size - least, file) == 0;
}

// Returns true if the innermost function of the stack is one that waits only
// for new work. Functions of the module selectors are skipped, because they
// call the kernel for other functions.
static bool is_idle_worker(const struct Attribution *attribution,
                           const struct SampledStack *stack)
{
    const struct Code *code = NULL;

    for (unsigned i = 0; i < stack->depth && (!code || code->who.c_function ||
                                              is_in(code, "/selectors.py"));
         i++)
        code = code_of(attribution, stack, i);
    for (size_t i = 0; code && code->who.name &&
                       i < sizeof IDLE_FUNCTIONS / sizeof *IDLE_FUNCTIONS;
         i++)
        if (strcmp(code->who.name, IDLE_FUNCTIONS[i].name) == 0 &&
            is_in(code, IDLE_FUNCTIONS[i].file))
            return true;
    return false;
}

static enum WaitKind kind_of(const struct Attribution *attribution,
                             const struct SampledStack *stack)
{
    enum WaitKind kind = stack->wait_kind;

    return (kind == WAITS_LOCK || kind == WAITS_SOCKET ||
            kind == WAIT_UNKNOWN) &&
                   is_idle_worker(attribution, stack)
               ? WAITS_IDLE
               : kind;
}

// Notes the kind of the wait, and for how long the calls on the stack stay, if
// this is the first sample or observation in the turn that shows it.
static void note_still(const struct Attribution *attribution,
                       const struct SampledStack *stack,
                       const struct ShareTime *now, struct SampleTime *time)
{
    struct LongCall *call = stack->call;

    time->kind = kind_of(attribution, stack);
    time->still_ns = time->tagged_ns = 0;
    if (time->kind == WAITS_IDLE || call->turn == attribution->turn)
        return;
    time->still_ns = time->tagged_ns = stack->still_ns;
    if (stack->tag.value && stack->tag.value == call->tag)
        time->tagged_ns = (uint64_t)(now->ns - call->tag_ns);
    if (time->tagged_ns)
        call->turn = attribution->turn;
}

// Adds the waiting time to the flame graph, as a child of the node of the
// function that waits.
static void draw_waits(const struct Attribution *attribution,
                       const struct ShareTime *now,
                       const struct FlameSample *path, double wait_ns,
                       double starved, enum WaitKind kind)
{
    uint32_t *leaf = (uint32_t *)path->path + path->depth;
    struct FlameSample wait = {.path = path->path, .depth = path->depth + 1};

    *leaf = FLAME_WAIT_ID + kind;
    wait.cpu_ns = wait_ns * (1 - starved);
    if (wait.cpu_ns > 0)
        Flame_add(attribution->flame, now, &wait);
    *leaf = FLAME_WAIT_ID + WAITS_CPU;
    wait.cpu_ns = wait_ns * starved;
    if (wait.cpu_ns > 0)
        Flame_add(attribution->flame, now, &wait);
}

// Adds the sample to the flame graph, with its C functions below the path. Adds
// the time of the innermost C function to the line of the Python function `id`.
static void add_to_flame(const struct Attribution *attribution,
                         const struct ShareTime *now, struct FlameSample path,
                         uint32_t id)
{
    size_t count = attribution->native_count;
    uint32_t *end = (uint32_t *)path.path + path.depth;

    for (size_t i = 0; i < count; i++)
        end[i] = attribution->natives[i];
    path.depth += count;
    Flame_add(attribution->flame, now, &path);
    if (count && id)
        Native_add_line(
            attribution->native, now,
            (const uint32_t[]){id, path.line, attribution->natives[count - 1]},
            path.cpu_ns);
}

// Passes the waiting time to `sink`, if the wait is chosen.
static void tell_wait(struct Attribution *attribution,
                      const struct SampledStack *stack,
                      const struct FlameSample *path, double wait_ns,
                      enum WaitKind drawn)
{
    double factor;

    if (!attribution->sink.wait || !(wait_ns > 0))
        return;
    factor = WaitChoice_factor(&attribution->choice, wait_ns,
                               fmax(stack->kind_ns, stack->starved_ns));
    if (!(factor > 0))
        return;
    attribution->sink.wait(
        attribution->sink.context,
        &(struct SampledWait){.path = path->path,
                              .depth = path->depth,
                              .drawn = drawn,
                              .ns = factor * wait_ns * (1 - stack->starved),
                              .starved_ns = factor * wait_ns * stack->starved,
                              .kind = stack->wait_kind,
                              .kind_ns = factor * stack->kind_ns,
                              .starved_weight_ns = factor * stack->starved_ns},
        stack->tid);
}

// Credits the sample to the innermost function itself.
static void credit_own(struct Share *share, struct SampleTime *time, bool in_c)
{
    struct ShareParts *parts = Share_own_parts(share);

    ShareValue_credit(&share->cpu, &time->ran);
    if (!parts)
        return;
    ShareValue_credit(&parts->wait, &time->waited);
    credit_waits(parts, time, true);
    ShareValue_credit(&parts->wait_to_run, &time->to_run);
    if (in_c)
        ShareValue_credit(&parts->in_c, &time->ran);
}

// Credits the sample of a C function that has a row to the Python function that
// has called it.
static void credit_called_c(struct Share *share, struct SampleTime *time)
{
    struct ShareParts *parts = Share_own_parts(share);

    if (!parts)
        return;
    ShareValue_credit(&parts->called_c, &time->ran);
    Counter_add(&parts->called_samples, time->ran.ns > 0);
}

static void add_wait_in_calls(struct ShareParts *parts,
                              const struct ShareTime *now, double ns)
{
    ShareValue_add(&parts->wait_in_calls, now, ns);
    Counter_add(&parts->waits_in_calls, 1);
}

void Attribution_settle_wait(const struct Attribution *attribution,
                             struct SampledStack *stack,
                             const struct ShareTime *now, double lasted_ns)
{
    uint32_t id = lasted_ns > 0 ? 0 : stack->held_id;
    struct ShareParts *parts;
    struct Code *code;

    stack->lasted_ns = lasted_ns;
    stack->held_id = 0;
    if (!id)
        return;
    Rcu_read_lock();
    code = Registry_by_id(attribution->registry, id);
    parts = code ? Share_own_parts(&code->share) : NULL;
    if (parts) {
        add_wait_in_calls(parts, now, stack->held_ns);
        Code_touch(code);
    }
    Rcu_read_unlock();
}

// Credits a wait of `ns` ns to the calls of the innermost Python function. If
// the wait is long and the thread has run in it, nobody knows yet whether it
// was in one call.
static void credit_wait_in_calls(const struct Attribution *attribution,
                                 struct SampledStack *stack, struct Code *code,
                                 const struct ShareTime *now,
                                 const struct SampleTime *time)
{
    double ns = time->waited.ns - time->to_run.ns;
    struct ShareParts *parts = ns > 0 ? Share_own_parts(&code->share) : NULL;

    if (!parts)
        return;
    if (!Code_is_overlong(code,
                          fmax(ns, stack->lasted_ns) * attribution->hz / 1e9)) {
        add_wait_in_calls(parts, now, ns);
    } else if (!(stack->lasted_ns > 0)) {
        stack->held_id = code->hot.id;
        stack->held_ns = ns;
    }
}

static void begin_call(struct LongCall *call, uint32_t id,
                       const struct ShareTime *now)
{
    call->id = id;
    call->since_ns = now->ns;
    call->held = (struct ShareValue){0};
    call->tagged_ns = 0;
}

// Wants a tag in the thread. Wakes the governor if `at_once` is true.
static void want_tag(struct LongCalls *calls, const struct SampledStack *stack,
                     const struct ShareTime *now, bool at_once)
{
    _Atomic pid_t *slot = &calls->wanted[(unsigned)stack->tid % LONG_CALLS];
    struct LongCall *call = stack->call;

    // This load pairs with the release with which the governor empties the
    // slot. The governor stores `tagged_ticks` before.
    if (atomic_load_explicit(slot, memory_order_acquire) ||
        stack->ticks < Counter_get(&calls->tagged_ticks))
        return;
    // The call that was tagged has ended, so this one began after that.
    if (call->asked && !call->tag)
        begin_call(call, call->id, now);
    atomic_store_explicit(slot, stack->tid, memory_order_relaxed);
    if (at_once && !call->asked)
        Waker_wake(calls->governor);
    call->asked = true;
    call->ran_ns = 0;
}

// Credits the CPU time of the sample to the present call of the function.
static void credit_long_call(const struct Attribution *attribution,
                             const struct SampledStack *stack,
                             struct Code *code, const struct ShareTime *now,
                             struct SampleTime *time)
{
    uint8_t tag = stack->tag.value;
    struct LongCall *call = stack->call;
    struct ShareParts *parts = Share_own_parts(&code->share);
    bool tagged = tag && time->frame >= stack->tag.frame, is_long;
    double ns;

    // A torn stack can lack the tagged frame.
    if (!parts || (stack->cut && !tag && stack->depth < WALK_DEPTH))
        return;
    if (call->tag ? tag != call->tag : call->id != code->hot.id) {
        begin_call(call, code->hot.id, now);
        call->asked = false;
    } else if (call->id != code->hot.id) {
        call->id = code->hot.id;
        call->held = (struct ShareValue){0};
    }
    if (tag != call->tag)
        call->tag_ns = now->ns;
    call->tag = tag;
    call->ran_ns += time->ran.ns;
    // If the function has called itself, its tagged call is another call.
    if (tag && !tagged)
        call->held = (struct ShareValue){0};
    else
        ShareValue_credit(&call->held, &time->ran);
    call->since_ns = fmin(call->since_ns,
                          now->ns - (double)Counter_get(&call->held.total_ns));
    call->tagged_ns += tagged ? time->ran.ns : 0;
    ns = tagged ? call->tagged_ns : now->ns - call->since_ns;
    is_long = Code_is_overlong(code, ns * attribution->hz / 1e9);
    if (tagged && is_long) {
        ShareValue_join(&parts->in_long_calls, &call->held, now);
        call->held = (struct ShareValue){0};
    } else if (!tagged && attribution->long_calls && call->ran_ns >= ALIKE_NS &&
               Code_can_be_tagged(code)) {
        want_tag(attribution->long_calls, stack, now, is_long);
    }
}

// Returns the innermost Python function of a stack whose innermost function is
// `code`, or NULL. At first *frame is the number of the frame of `code`.
// python_of changes *frame to the number of the Python function's frame.
static struct Code *python_of(const struct Attribution *attribution,
                              const struct SampledStack *stack,
                              struct Code *code, unsigned *frame)
{
    if (!code || !code->who.c_function || *frame + 1 >= stack->depth)
        return code;
    return code_of(attribution, stack, ++*frame);
}

// Credits the CPU time of the sample to the asyncio task that ran, and to the
// task's group.
static void credit_task(const struct Attribution *attribution,
                        const struct SampledStack *stack,
                        struct SampleTime *time)
{
    // This load pairs with the release store in Sampler_task_share.
    struct TaskShares *tasks =
        atomic_load_explicit(&attribution->tasks, memory_order_acquire);

    if (!tasks || !time->task.group)
        return;
    TaskShares_add(tasks, time->task.group, &time->ran);
    for (unsigned i = 0; i < WALK_ROOTS && stack->roots[i].at; i++)
        if (stack->walked - stack->roots[i].frame == time->task.height)
            TaskShares_add_single(tasks, stack->roots[i].at, stack->ticks,
                                  &time->ran);
}

double Attribution_add(struct Attribution *attribution,
                       struct SampledStack *stack, const struct ShareTime *now,
                       struct Breakdown *functions, double cpu_ns,
                       double wait_ns)
{
    // Room for the ids of WALK_DEPTH functions, of a cut-off part, and of a
    // wait or of C functions.
    uint32_t ids[WALK_DEPTH + 2 + NATIVE_IDS];
    struct FlameSample path = {.path = ids, .cpu_ns = cpu_ns};
    struct SampleTime time;
    enum WaitKind kind;
    unsigned top = 0;
    struct Code *code, *runs;
    uint32_t runs_id;

    if (!(cpu_ns + wait_ns > 0))
        return 0;
    init_time(&time, stack, now, cpu_ns, wait_ns);
    Rcu_read_lock();
    note_still(attribution, stack, now, &time);
    code = add_stack(attribution, stack, now, &time, &path, &top);
    path.in_c = code && top == 0 && stack->in_c;
    time.frame = top;
    runs = python_of(attribution, stack, code, &time.frame);
    runs_id = runs ? runs->hot.id : 0;
    kind = stack->idle ? WAITS_IDLE : time.kind;
    if (code) {
        credit_own(&code->share, &time, path.in_c);
        if (top == 0 && stack->entering && cpu_ns > 0)
            code->share.entry_samples++;
        if (runs && runs != code)
            credit_called_c(&runs->share, &time);
        if (runs)
            credit_wait_in_calls(attribution, stack, runs, now, &time);
        if (cpu_ns > 0 && runs) {
            credit_long_call(attribution, stack, runs, now, &time);
            count_instruction(attribution, runs, &stack->frames[time.frame],
                              path.in_c, &path);
        }
        Counter_add(&code->share.samples, 1);
        Counter_add(&code->share.run_samples, cpu_ns > 0);
        Code_touch(code);
    }
    if (cpu_ns > 0) {
        Breakdown_add(functions, code ? code->hot.id : 0, now, &time.ran);
        credit_task(attribution, stack, &time);
    }
    Rcu_read_unlock();
    // Flame_add must not be called within an RCU read section, because it may
    // wait for a reader of the flame graph.
    if (cpu_ns > 0 && attribution->flame)
        add_to_flame(attribution, now, path, runs_id);
    if (attribution->flame)
        draw_waits(attribution, now, &path, wait_ns, stack->starved, kind);
    if (cpu_ns > 0 && attribution->sink.take)
        attribution->sink.take(attribution->sink.context, &path, stack->tid,
                               stack->ticks);
    tell_wait(attribution, stack, &path, wait_ns, kind);
    return code && top == 0 ? 0 : cpu_ns;
}

void Attribution_block(const struct Attribution *attribution,
                       const struct SampledStack *stack,
                       const struct ShareTime *now, double ns)
{
    struct Code *code = NULL;
    struct ShareParts *parts;

    Rcu_read_lock();
    for (unsigned i = 0; i < stack->depth && !code; i++)
        code = code_of(attribution, stack, i);
    parts = code ? Share_own_parts(&code->share) : NULL;
    if (parts) {
        ShareValue_add(&parts->blocked, now, ns);
        Code_touch(code);
    }
    Rcu_read_unlock();
}

size_t Attribution_places(const struct Attribution *attribution,
                          const struct SampledStack *stack,
                          struct PlaceInCode *places, size_t most)
{
    size_t count = 0;

    Rcu_read_lock();
    for (unsigned i = 0; i < stack->depth && count < most; i++) {
        const struct Code *code = code_of(attribution, stack, i);
        uint32_t unit =
            code ? Attribution_unit(attribution, code, &stack->frames[i])
                 : UINT32_MAX;

        if (code)
            places[count++] = (struct PlaceInCode){
                code->hot.id, unit == UINT32_MAX
                                  ? code->who.line
                                  : Attribution_line(attribution, code, unit)};
    }
    Rcu_read_unlock();
    return count;
}
