// SPDX-License-Identifier: MIT
// See measures.h.
#include "python/module/measures.h"
#include "ipc/base/heap.h"
#include "python/service/governor.h"

PyDoc_STRVAR(hook_cost_doc,
             "hook_cost() -> (enter, leave, jump, instruction, each far "
             "offset) in TSC ticks, as measured at start; that of an "
             "instruction in precise mode only, else 0.");

static PyObject *hook_cost(PyObject *module, PyObject *unused)
{
    const int64_t *cost = ocular_state.engine.traces.cost;

    (void)module, (void)unused;
    return Py_BuildValue(
        "(LLLLL)", (long long)cost[HOOK_ENTER], (long long)cost[HOOK_LEAVE],
        (long long)cost[HOOK_JUMP], (long long)cost[HOOK_INSTRUCTION],
        (long long)(cost[HOOK_FAR + HOOK_LEAVE] - cost[HOOK_LEAVE]));
}

PyDoc_STRVAR(heap_used_doc,
             "heap_used() -> bytes of Ocular's own heap that are in use, for "
             "tests.");

static PyObject *heap_used(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromSize_t(Heap_used());
}

PyDoc_STRVAR(holds_doc,
             "holds() -> (how many the governor has had since the start, the "
             "CPU time (s) that it held the interpreter for in all of them, "
             "and in the longest); zeros where nothing is traced.");

static PyObject *holds(PyObject *module, PyObject *unused)
{
    struct Holds all = Governor_holds(&ocular_service);

    (void)module, (void)unused;
    return Py_BuildValue("(Kdd)", all.count, (double)all.held_ns * 1e-9,
                         (double)all.longest_ns * 1e-9);
}

PyMethodDef Measures_methods[] = {
    {"hook_cost", hook_cost, METH_NOARGS, hook_cost_doc},
    {"heap_used", heap_used, METH_NOARGS, heap_used_doc},
    {"holds", holds, METH_NOARGS, holds_doc},
    {NULL, NULL, 0, NULL},
};
