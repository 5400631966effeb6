// SPDX-License-Identifier: MIT
// Defines the entry points of the hooks, one function for each event. CPython
// calls the entry points on the traced thread with the GIL held. On the fast
// path a hook only writes a hit. On the slow path a hook first counts all
// earlier hits, and then its own event (call.h). A hook uses the slow path at
// the first event of a thread or a greenlet, at a site that has gone dark,
// after a long time, and if the ring is full. Only the slow path may allocate,
// lock or call the kernel. A hook never prints or raises, and returns None or
// DISABLE, which are immortal.
#include "python/hooks/hook.h"
#include "python/hooks/call.h"
#include "python/hooks/interpreter_facts.h"
#include "python/hooks/raise_watch.h"
#include "python/hooks/rare.h"
#include "python/hooks/tasks.h"
#include "python/hooks/writer.h"

static bool is_jump(enum HitKind kind)
{
    return kind >= HIT_JUMP && kind <= HIT_RIGHT;
}

// Returns the code unit of an event, or its line.
static inline size_t unit_of(PyObject *place, enum HitKind kind)
{
    return kind == HIT_LINE ? Call_line(place) : Call_unit(place);
}

// Returns the target of a jump or a branch (Hit_to).
static inline size_t target_of(PyObject *const *args, enum HitKind kind)
{
    if (kind == HIT_LINE)
        return Call_line(args[1]) >= 2 * HOOK_NEAR_UNITS - 1;
    return is_jump(kind) ? Call_unit(args[2]) : 0;
}

__attribute__((noinline)) static PyObject *
count_now(PyObject *const *args, size_t nargsf, enum HitKind kind)
{
    struct Call call;
    bool disable;
    size_t to;

    if (PyVectorcall_NARGS(nargsf) < (is_jump(kind) ? 3 : 2) ||
        !PyLong_Check(args[1]) || (is_jump(kind) && !PyLong_Check(args[2])))
        return Py_None;
    to = target_of(args, kind);
    if (Writer_write_again(args[0], kind, unit_of(args[1], kind), to))
        return Py_None;
    // Writer_write_again has charged the time up to this point
    Call_init(&call);
    if (!Call_look(&call, args, nargsf))
        return Py_None;
    call.unit = unit_of(args[1], kind);
    if (!Hit_fits(0, call.unit, to))
        return ocular_state.disable;
    disable = Call_count_alone(&call, kind, to);
    if (kind == HIT_ENTER)
        Tasks_note(&call);
    return disable ? ocular_state.disable : Py_None;
}

static inline __attribute__((always_inline)) PyObject *
hook(PyObject *const *args, size_t nargsf, enum HitKind kind)
{
    bool jumps = is_jump(kind);

    if (__builtin_expect(jumps ? (nargsf & 3) != 3 : !(nargsf & 2), 0) ||
        !Writer_write(args[0], kind, unit_of(args[1], kind),
                      target_of(args, kind)))
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
CALLBACKS(on_line, HIT_LINE)

#define TABLE(path)                                                            \
    {                                                                          \
        [ON_START] = on_enter_##path, [ON_RESUME] = on_resume_##path,          \
        [ON_RETURN] = on_leave_##path, [ON_YIELD] = on_leave_##path,           \
        [ON_JUMP] = on_jump_##path, [ON_BRANCH] = on_branch_##path,            \
        [ON_BRANCH_LEFT] = on_branch_##path,                                   \
        [ON_BRANCH_RIGHT] = on_right_##path, [ON_UNWIND] = Rare_unwind,        \
        [ON_THROW] = Rare_throw, [ON_INSTRUCTION] = on_step_##path,            \
        [ON_CALL] = Rare_call, [ON_LINE] = on_line_##path,                     \
        [ON_RAISE] = RaiseWatch_raise, [ON_C_RETURN] = Rare_c_end,             \
        [ON_C_RAISE] = Rare_c_end,                                             \
    }

const vectorcallfunc HOOK_FAST[HOOK_EVENTS] = TABLE(fast);
const vectorcallfunc HOOK_SLOW[HOOK_EVENTS] = TABLE(slow);
