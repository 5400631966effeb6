// SPDX-License-Identifier: MIT
// The hooks' entry: a function for each event, called by the interpreter on the
// traced thread with its lock held. A hook writes its event down and returns.
// If that is not all there is to do, it counts the event itself, with all that
// came before (call.h): at a thread's first event or a greenlet's, at a site
// that has gone dark, after a long time, if the ring is full. Only then it may
// allocate, lock, or ask the kernel. It never prints or raises, and returns
// None or DISABLE, both immortal.
#include "python/hooks/hook.h"
#include "python/hooks/call.h"
#include "python/hooks/frames.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/rare.h"
#include "python/hooks/thread_state.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINED static inline __attribute__((always_inline))

// false: there is more to do.
INLINED bool write_down(PyObject *code, enum HitKind kind, size_t unit,
                        size_t to)
{
    struct HitRing *ring = &ocular_state.engine.counting.ring;
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t who = Hit_who((uintptr_t)code, kind), ticks;

    if (UNLIKELY(own_trace != ring->trace ||
                 ThreadState_chunk(state) != ring->chunk ||
                 atomic_load_explicit(&ring->head, memory_order_relaxed) ==
                     ring->limit ||
                 !Hit_fits(depth, unit, to) ||
                 HitRing_is_dark(ring, HitRing_key(who, unit))))
        return false;
    if (kind == HIT_ENTER && UNLIKELY((uintptr_t)code == ring->task_code))
        return false;
    if (kind <= HIT_RESUME)
        to = Hit_caller(Frames_caller(state));
    ticks = Clock_counter();
    if (UNLIKELY(ticks - ring->last > ring->brief))
        return false;
    HitRing_push(ring, ticks, who, Hit_where(depth, unit, to));
    return true;
}

static void push(struct HitRing *ring, uint64_t ticks, uint64_t who)
{
    if (atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit)
        Counting_make_room(&ocular_state.engine.counting);
    HitRing_push(ring, ticks, who, 0);
}

// The thread that runs is another one than at the hit before. It has waited:
// the kernel has nothing to say of that time. false: there is more to do.
static bool turn(struct HitRing *ring)
{
    const PyThreadState *state = ThreadState_fast();
    struct ThreadTrace *trace = own_trace;
    uint64_t ticks = Clock_counter();

    if (trace->name_asks || trace->chunk != ThreadState_chunk(state))
        return false;
    Preemption_forget(&trace->preemption);
    ThreadTrace_set_state(trace, (uintptr_t)state, state->id, ticks);
    push(ring, ticks, Hit_who((uintptr_t)trace, HIT_THREAD));
    ring->trace = trace;
    ring->chunk = trace->chunk;
    return true;
}

// Of what can be in the way, a full ring, another thread and a long time are
// soon dealt with. That is no time of the program's.
static bool write_again(PyObject *code, enum HitKind kind, size_t unit,
                        size_t to)
{
    struct Counting *counting = &ocular_state.engine.counting;
    struct HitRing *ring = &counting->ring;
    uint64_t begin = Clock_counter(), span = begin - ring->last;
    bool full;

    if (!own_trace || own_trace->name_asks)
        return false;
    full =
        atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit;
    if (full)
        Counting_make_room(counting);
    if (own_trace != ring->trace) {
        if (!turn(ring))
            return false;
    } else if (span > ring->brief) {
        int64_t taken = ThreadTrace_ask(own_trace, (int64_t)span);

        push(ring, begin, Hit_who((uintptr_t)taken, HIT_TAKEN));
    } else if (!full) {
        return false;
    }
    push(ring, Clock_counter(), Hit_who(Clock_counter() - begin, HIT_PAID));
    if (atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit)
        Counting_make_room(counting);
    return write_down(code, kind, unit, to);
}

static bool is_jump(enum HitKind kind)
{
    return kind >= HIT_JUMP && kind <= HIT_RIGHT;
}

__attribute__((noinline)) static PyObject *
count_now(PyObject *const *args, size_t nargsf, enum HitKind kind)
{
    struct Call call;
    size_t to = 0;

    Call_init(&call);
    if (PyVectorcall_NARGS(nargsf) < (is_jump(kind) ? 3 : 2) ||
        !PyLong_Check(args[1]) || (is_jump(kind) && !PyLong_Check(args[2])))
        return Py_None;
    if (is_jump(kind))
        to = Call_unit(args[2]);
    if (ocular_state.fast && write_again(args[0], kind, Call_unit(args[1]), to))
        return Py_None;
    if (!Call_look(&call, args, nargsf))
        return Py_None;
    if (!Hit_fits(0, 0, to))
        return ocular_state.disable;
    return Call_count_alone(&call, kind, to) ? ocular_state.disable : Py_None;
}

INLINED PyObject *hook(PyObject *const *args, size_t nargsf, enum HitKind kind)
{
    bool jumps = is_jump(kind);

    if (UNLIKELY(jumps ? (nargsf & 3) != 3 : !(nargsf & 2)) ||
        !write_down(args[0], kind, Call_unit(args[1]),
                    jumps ? Call_unit(args[2]) : 0))
        return count_now(args, nargsf, kind);
    return Py_None;
}

#define CALLBACKS(name, kind)                                                  \
    static PyObject *name##_fast(PyObject *self, PyObject *const *args,        \
                                 size_t nargsf, PyObject *names)               \
    {                                                                          \
        (void)self, (void)names;                                               \
        return hook(args, nargsf, kind);                                       \
    }                                                                          \
    static PyObject *name##_slow(PyObject *self, PyObject *const *args,        \
                                 size_t nargsf, PyObject *names)               \
    {                                                                          \
        (void)self, (void)names;                                               \
        return count_now(args, nargsf, kind);                                  \
    }

CALLBACKS(on_enter, HIT_ENTER)
CALLBACKS(on_resume, HIT_RESUME)
CALLBACKS(on_leave, HIT_LEAVE)
CALLBACKS(on_jump, HIT_JUMP)
CALLBACKS(on_branch, HIT_BRANCH)
CALLBACKS(on_right, HIT_RIGHT)
CALLBACKS(on_step, HIT_STEP)

#define TABLE(path)                                                            \
    {                                                                          \
        [ON_START] = on_enter_##path, [ON_RESUME] = on_resume_##path,          \
        [ON_RETURN] = on_leave_##path, [ON_YIELD] = on_leave_##path,           \
        [ON_JUMP] = on_jump_##path, [ON_BRANCH] = on_branch_##path,            \
        [ON_BRANCH_LEFT] = on_branch_##path,                                   \
        [ON_BRANCH_RIGHT] = on_right_##path, [ON_UNWIND] = Rare_unwind,        \
        [ON_THROW] = Rare_throw, [ON_INSTRUCTION] = on_step_##path,            \
        [ON_CALL] = Rare_call,                                                 \
    }

const vectorcallfunc HOOK_FAST[HOOK_EVENTS] = TABLE(fast);
const vectorcallfunc HOOK_SLOW[HOOK_EVENTS] = TABLE(slow);

bool Hook_write(PyObject *code, enum HitKind kind, size_t unit)
{
    return ocular_state.fast && (write_down(code, kind, unit, 0) ||
                                 write_again(code, kind, unit, 0));
}
