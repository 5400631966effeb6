// SPDX-License-Identifier: MIT
// The extension module ocular._ocular: the few functions that the package
// builds its interface on. Arguments have been checked by the package; what is
// checked here is only what could crash.
#include "python/adopt.h"
#include "python/callees.h"
#include "python/control.h"
#include "python/fork.h"
#include "python/hook.h"
#include "python/interpreter.h"
#include "python/thread_name.h"
#include "python/thread_state.h"
#include "python/tools.h"

#include "ipc/version.h"

#include <errno.h>
#include <string.h>

struct State ocular_state;

// A fork may have left something to do.
static struct State *settled(void)
{
    Fork_settle(&ocular_state);
    return &ocular_state;
}

// The same for who wants to look: in a forked child whose own session is about
// to start, it starts now.
static struct State *looked_at(void)
{
    struct State *state = settled();

    Heir_hurry(&state->heir);
    return state;
}

PyDoc_STRVAR(start_doc,
             "start(mode, timeline, timeline_limit, threshold, exclude, "
             "include, serve, sampler, budget, output, command, inherited)\n\n"
             "Starts tracing; budget is a float, NaN for none. inherited: the "
             "heir starts it, see set_heir.");

static PyObject *start(PyObject *module, PyObject *args)
{
    struct Request request;
    struct Config *config = &request.config;
    const char *mode, *output;
    struct State *state = settled();
    int timeline, serve, sampler, inherited;
    Py_ssize_t limit;
    unsigned long long threshold;

    (void)module;
    memset(&request, 0, sizeof request);
    if (!PyArg_ParseTuple(args, "spnKO!O!ppdysp:start", &mode, &timeline,
                          &limit, &threshold, &PyList_Type, &request.exclude,
                          &PyList_Type, &request.include, &serve, &sampler,
                          &config->budget, &output, &request.command,
                          &inherited))
        return NULL;
    if (strlen(output) >= sizeof config->output) {
        PyErr_SetString(PyExc_ValueError, "output: the path is too long");
        return NULL;
    }
    snprintf(config->mode, sizeof config->mode, "%s", mode);
    snprintf(config->output, sizeof config->output, "%s", output);
    config->threshold = threshold;
    config->timeline = timeline;
    config->timeline_limit = (size_t)limit;
    config->serve = serve;
    config->sampler = sampler;
    Heir_cancel(&state->heir);
    // What has started by itself makes room for what is asked for.
    if (state->inherited && state->phase == PHASE_TRACING)
        Py_XDECREF(Control_stop(state, false));
    if (inherited)
        Export_own_name(output, config->output);
    if (Control_start(state, &request) < 0)
        return NULL;
    state->inherited = inherited;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(stop_doc,
             "stop() -> (snapshot, report, trace path or None, trouble or "
             "None), or None when nothing is traced.");

static PyObject *stop(PyObject *module, PyObject *unused)
{
    struct State *state = settled();

    (void)module, (void)unused;
    Heir_cancel(&state->heir);
    return Control_stop(state, true);
}

PyDoc_STRVAR(snapshot_doc, "snapshot() -> dict");

static PyObject *snapshot(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Control_snapshot(looked_at());
}

PyDoc_STRVAR(export_doc, "export(path: bytes) -> bytes written");

static PyObject *export(PyObject *module, PyObject *path)
{
    (void)module;
    if (!PyBytes_Check(path)) {
        PyErr_SetString(PyExc_TypeError, "path must be bytes");
        return NULL;
    }
    return Control_export(looked_at(), PyBytes_AS_STRING(path));
}

PyDoc_STRVAR(detail_doc,
             "detail(code) -> a list of dicts, one an instruction, or None: "
             "the code object is not traced.");

static PyObject *detail(PyObject *module, PyObject *code)
{
    (void)module;
    return Control_detail(settled(), code);
}

PyDoc_STRVAR(is_tracing_doc, "is_tracing() -> bool");

static PyObject *is_tracing(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(settled()->phase == PHASE_TRACING);
}

PyDoc_STRVAR(socket_path_doc, "socket_path() -> str, or None: not serving");

static PyObject *socket_path(PyObject *module, PyObject *unused)
{
    const struct Session *session = looked_at()->engine.session;

    (void)module, (void)unused;
    if (ocular_state.phase != PHASE_TRACING || !session->server)
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(Server_path(session->server));
}

PyDoc_STRVAR(hook_cost_doc,
             "hook_cost() -> (enter, leave, jump, branch) in TSC ticks, as "
             "measured at the last start.");

static PyObject *hook_cost(PyObject *module, PyObject *unused)
{
    const int64_t *cost = ocular_state.engine.cost;

    (void)module, (void)unused;
    return Py_BuildValue(
        "(LLLL)", (long long)cost[HOOK_ENTER], (long long)cost[HOOK_LEAVE],
        (long long)cost[HOOK_JUMP], (long long)cost[HOOK_BRANCH]);
}

PyDoc_STRVAR(step_cost_doc,
             "step_cost() -> (instruction, instruction far off), in precise "
             "mode; else 0.");

static PyObject *step_cost(PyObject *module, PyObject *unused)
{
    const int64_t *cost = ocular_state.engine.cost;

    (void)module, (void)unused;
    return Py_BuildValue("(LL)", (long long)cost[HOOK_INSTRUCTION],
                         (long long)cost[HOOK_INSTRUCTION_FAR]);
}

PyDoc_STRVAR(fork_doc, "For os.register_at_fork.");

static PyObject *before_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Fork_before(&ocular_state);
    Py_RETURN_NONE;
}

static PyObject *after_fork_in_parent(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Fork_after_in_parent(&ocular_state);
    Py_RETURN_NONE;
}

static PyObject *after_fork_in_child(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Fork_after_in_child(&ocular_state);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_heir_doc,
             "set_heir(callable): starts the session of a forked child whose "
             "parent serves.");

static PyObject *set_heir(PyObject *module, PyObject *start_it)
{
    (void)module;
    Py_XSETREF(ocular_state.heir.start, Py_NewRef(start_it));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_package_doc,
             "set_package(folder: str): whose own modules are never traced.");

static PyObject *set_package(PyObject *module, PyObject *folder)
{
    const char *text = PyUnicode_AsUTF8(folder);

    (void)module;
    if (!text)
        return NULL;
    snprintf(ocular_state.package, sizeof ocular_state.package, "%s", text);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, start_doc},
    {"stop", stop, METH_NOARGS, stop_doc},
    {"snapshot", snapshot, METH_NOARGS, snapshot_doc},
    {"export", export, METH_O, export_doc},
    {"detail", detail, METH_O, detail_doc},
    {"is_tracing", is_tracing, METH_NOARGS, is_tracing_doc},
    {"socket_path", socket_path, METH_NOARGS, socket_path_doc},
    {"hook_cost", hook_cost, METH_NOARGS, hook_cost_doc},
    {"step_cost", step_cost, METH_NOARGS, step_cost_doc},
    {"before_fork", before_fork, METH_NOARGS, fork_doc},
    {"after_fork_in_parent", after_fork_in_parent, METH_NOARGS, fork_doc},
    {"after_fork_in_child", after_fork_in_child, METH_NOARGS, fork_doc},
    {"set_heir", set_heir, METH_O, set_heir_doc},
    {"set_package", set_package, METH_O, set_package_doc},
    {NULL, NULL, 0, NULL},
};

// An import may fail half-way and be tried again: all of it is done anew then,
// but for the engine, which traced code may point to.
static int initialise_state(struct State *state)
{
    int error = state->engine.registry ? 0 : Engine_init(&state->engine);

    if (error) {
        PyErr_NoMemory();
        return -1;
    }
    state->engine.lanes.name = ThreadName_own;
    ThreadState_find();
    Interpreter_layout(&state->engine.layout);
    if (Adopt_init(state) < 0 || Callees_init(state) < 0 ||
        Tools_init(state) < 0 || Hooks_init(state) < 0 ||
        Interpreter_opcodes(state) < 0)
        return -1;
    error = Fork_init(state);
    if (!error)
        return 0;
    errno = -error;
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
}

// The state outlives the module (see state.h): a second import finds it ready.
// A subinterpreter's must not: the trace is that of the main one.
static int initialise(PyObject *module)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError,
                        "Ocular does not work in a subinterpreter: import it "
                        "in the main interpreter, whose code is then traced, "
                        "and no other's");
        return -1;
    }
    if (!ocular_state.ready && initialise_state(&ocular_state) < 0)
        return -1;
    ocular_state.ready = true;
    return PyModule_AddStringConstant(module, "__version__", OCULAR_VERSION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, initialise},
    // Not that it were: so that initialise() can refuse in words, which it does
    // before it touches anything shared.
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "ocular._ocular",
    .m_doc = "The tracing engine of Ocular.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__ocular(void)
{
    return PyModuleDef_Init(&definition);
}
