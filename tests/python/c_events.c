// SPDX-License-Identifier: MIT
// Fires events of sys.monitoring from C code, as Cython's code does. This
// module fires an event with or without an exception set. test_c_events.py uses
// this module.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x030D0000

#define OFFSET 0

static int report(PyMonitoringState *state, int event, PyObject *code)
{
    switch (event) {
    case PY_MONITORING_EVENT_PY_START:
        return PyMonitoring_FirePyStartEvent(state, code, OFFSET);
    case PY_MONITORING_EVENT_PY_RESUME:
        return PyMonitoring_FirePyResumeEvent(state, code, OFFSET);
    case PY_MONITORING_EVENT_PY_RETURN:
        return PyMonitoring_FirePyReturnEvent(state, code, OFFSET, Py_None);
    case PY_MONITORING_EVENT_PY_YIELD:
        return PyMonitoring_FirePyYieldEvent(state, code, OFFSET, Py_None);
    case PY_MONITORING_EVENT_CALL:
        return PyMonitoring_FireCallEvent(state, code, OFFSET, code, Py_None);
    case PY_MONITORING_EVENT_JUMP:
        return PyMonitoring_FireJumpEvent(state, code, OFFSET, Py_None);
    case PY_MONITORING_EVENT_PY_THROW:
        return PyMonitoring_FirePyThrowEvent(state, code, OFFSET);
    case PY_MONITORING_EVENT_PY_UNWIND:
        return PyMonitoring_FirePyUnwindEvent(state, code, OFFSET);
    default:
        PyErr_SetString(PyExc_ValueError, "not an event of this test");
        return -1;
    }
}

// fire(event, code, exception) sets `exception` unless it is None, and fires
// the event. Then fire() returns the exception that is set, or None.
static PyObject *fire(PyObject *module, PyObject *args)
{
    PyMonitoringState state = {0};
    uint64_t version = 0;
    PyObject *code, *exception;
    int number, result;
    uint8_t event;

    (void)module;
    if (!PyArg_ParseTuple(args, "iOO", &number, &code, &exception))
        return NULL;
    event = (uint8_t)number;
    if (PyMonitoring_EnterScope(&state, &version, &event, 1) < 0)
        return NULL;
    if (exception != Py_None)
        PyErr_SetRaisedException(Py_NewRef(exception));
    result = report(&state, number, code);
    exception = PyErr_GetRaisedException();
    PyMonitoring_ExitScope();
    if (result < 0 && !exception)
        // PyMonitoring has returned -1 for the event without setting an
        // exception.
        exception = Py_NewRef(PyExc_SystemError);
    return exception ? exception : Py_NewRef(Py_None);
}

static const struct {
    const char *name;
    int number;
} events[] = {
    {"PY_START", PY_MONITORING_EVENT_PY_START},
    {"PY_RESUME", PY_MONITORING_EVENT_PY_RESUME},
    {"PY_RETURN", PY_MONITORING_EVENT_PY_RETURN},
    {"PY_YIELD", PY_MONITORING_EVENT_PY_YIELD},
    {"CALL", PY_MONITORING_EVENT_CALL},
    {"JUMP", PY_MONITORING_EVENT_JUMP},
    {"PY_THROW", PY_MONITORING_EVENT_PY_THROW},
    {"PY_UNWIND", PY_MONITORING_EVENT_PY_UNWIND},
};

// Adds the events as constants, because their numbers differ between versions.
static int add_events(PyObject *module)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (PyModule_AddIntConstant(module, events[i].name, events[i].number))
            return -1;
    return 0;
}

static PyMethodDef methods[] = {
    {"fire", fire, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

#else
static int add_events(PyObject *module)
{
    (void)module;
    return 0;
}

static PyMethodDef methods[] = {{NULL, NULL, 0, NULL}};
#endif

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "c_events",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_c_events(void);

PyMODINIT_FUNC PyInit_c_events(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && add_events(module) < 0)
        Py_CLEAR(module);
    return module;
}
