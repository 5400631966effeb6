// SPDX-License-Identifier: MIT
#include "python/hooks/extra.h"
#include "ipc/base/heap.h"

static void unlink_other(struct OtherCode *other)
{
    *other->link = other->next;
    if (other->next)
        other->next->link = other->link;
    Heap_free(other);
}

// CPython calls this function when a code object is freed or its extra is
// replaced. CPython may also call this function at shutdown, after the module
// was freed.
static void extra_freed(void *extra)
{
    struct Engine *engine = &ocular_state.engine;

    if (!extra || Extra_is_mark(extra))
        return;
    if ((uintptr_t)extra & EXTRA_OTHER) {
        unlink_other((void *)((uintptr_t)extra & ~(uintptr_t)EXTRA_OTHER));
        return;
    }
    if (((struct Code *)extra)->hot.probe) {
        Counting_begin(&engine->counting);
        ThreadTraces_forget(&engine->traces, extra);
        Counting_forget(&engine->counting, extra);
        Registry_unchain(engine->registry, extra);
        Counting_end(&engine->counting);
        Code_free(extra);
        return;
    }
    if (ocular_state.look_next == extra)
        ocular_state.look_next = Registry_next(extra);
    if (ocular_state.slice_next == extra)
        ocular_state.slice_next = Registry_next(extra);
    Engine_retire(engine, extra);
}

int Extra_init(struct State *state)
{
    PyObject *probe;
    int marker, ok;

    state->extra = PyUnstable_Eval_RequestCodeExtraIndex(extra_freed);
    if (state->extra < 0) {
        PyErr_SetString(PyExc_RuntimeError,
                        "no index for extra data of code objects is left: "
                        "other tools of this process hold them all");
        return -1;
    }
    // Checks that CPython's private struct has the layout of struct CodeExtra.
    probe = (PyObject *)PyCode_NewEmpty("<ocular>", "probe", 1);
    if (!probe)
        return -1;
    ok = PyUnstable_Code_SetExtra(probe, state->extra, &marker) == 0 &&
         Extra_of(state, (PyCodeObject *)probe) == &marker;
    // The marker is cleared directly, because SetExtra would call extra_freed
    // with the marker.
    if (ok) {
        struct CodeExtra *extra = ((PyCodeObject *)probe)->co_extra;

        extra->extras[state->extra] = NULL;
    }
    if (ok) {
        Py_DECREF(probe);
        return 0;
    }
    // The probe leaks, because freeing it might call extra_freed with any
    // pointer.
    PyErr_SetString(PyExc_ImportError,
                    "this Python keeps the extra data of code objects in a "
                    "way that this Ocular does not know; upgrade Ocular");
    return -1;
}

int Extra_set_other(struct State *state, PyCodeObject *code)
{
    struct OtherCode *other = Heap_alloc(sizeof *other);

    if (!other)
        return -1;
    other->code = code;
    other->steps = 0;
    other->next = state->others;
    other->link = &state->others;
    if (other->next)
        other->next->link = &other->next;
    state->others = other;
    if (PyUnstable_Code_SetExtra((PyObject *)code, state->extra,
                                 (void *)((uintptr_t)other | EXTRA_OTHER)) == 0)
        return 0;
    PyErr_Clear();
    unlink_other(other);
    return -1;
}
