// SPDX-License-Identifier: MIT
// Defines the extension module ocular._ocular, on whose functions the package
// is built. The package has checked the arguments. This file checks only
// arguments that could cause a crash.
#include "python/hooks/adopt.h"
#include "python/hooks/c_functions.h"
#include "python/hooks/callees.h"
#include "python/hooks/frame_proof.h"
#include "python/hooks/garbage_watch.h"
#include "python/hooks/gil_facts.h"
#include "python/hooks/hooks.h"
#include "python/hooks/interpreter_facts.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/stand_in.h"
#include "python/hooks/thread_name.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"
#include "python/module/marks.h"
#include "python/module/program.h"
#include "python/module/recordings.h"
#include "python/module/start.h"
#include "python/module/tracing.h"
#include "python/module/watched.h"
#include "python/service/fork.h"
#include "python/service/governor.h"

#include "ipc/version.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

struct State ocular_state;
struct Service ocular_service = {.state = &ocular_state};

// After a fork, restarts Ocular's threads or frees the parent's session. The
// activation thread restarts and frees nothing, because a fork waits for this
// thread. Returns the state.
static struct State *settled(void)
{
    if (!Worker_is_here(&ocular_service.activation.worker))
        Fork_settle(&ocular_service);
    return &ocular_state;
}

// Does the same as settled(). If this process is a forked child whose session
// would start later, also starts the session now, because the calling function
// needs data. Returns the state.
static struct State *looked_at(void)
{
    struct State *state = settled();

    ChildStarter_hurry(&ocular_service.child_starter);
    return state;
}

static PyObject *start(PyObject *module, PyObject *args)
{
    (void)module;
    return Start_trace(settled(), args);
}

PyDoc_STRVAR(
    stop_doc,
    "stop(progress, seconds, brief, make_page) -> tuple or None\n\n"
    "Stops tracing. Returns (snapshot, report, path of the output file or "
    "None, error message or None, exception or None), or None if nothing is "
    "traced.\n\n"
    "progress: None, or a function that is called every 50 ms with the "
    "written part (0 to 1) of the timeline and the size of its file in bytes. "
    "seconds: the longest time for writing; 0: no limit. brief: whether the "
    "report is short. make_page: None, or the function of final_timeline.h. "
    "The exception comes from a signal handler, progress or make_page, and "
    "has ended the writing.");

static PyObject *stop(PyObject *module, PyObject *args)
{
    PyObject *progress, *make_page;
    double seconds;
    int brief;
    struct Activation *activation = &ocular_service.activation;
    struct State *state = settled();
    PyObject *result;

    (void)module;
    if (!PyArg_ParseTuple(args, "OdpO:stop", &progress, &seconds, &brief,
                          &make_page))
        return NULL;
    state->brief = brief;
    ChildStarter_cancel_trace(&ocular_service.child_starter);
    Activation_hold(activation);
    result = Tracing_stop(state, state->writes,
                          progress == Py_None ? NULL : progress, seconds,
                          make_page == Py_None ? NULL : make_page);
    Activation_let_go(activation, state->phase == PHASE_TRACING);
    return result;
}

PyDoc_STRVAR(check_frames_doc,
             "check_frames(code=0, previous=0, instruction=0, owner=0)\n\n"
             "Raises ImportError if the frames of its callers do not have the "
             "layout for which Ocular was compiled. For tests, the arguments "
             "are added to the expected offsets.");

static PyObject *check_frames(PyObject *module, PyObject *args)
{
    struct FrameLayout layout = ocular_state.engine.layout;
    int code = 0, previous = 0, instruction = 0, owner = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "|iiii:check_frames", &code, &previous,
                          &instruction, &owner))
        return NULL;
    layout.frame_code += (size_t)code;
    layout.frame_previous += (size_t)previous;
    layout.frame_instruction += (size_t)instruction;
    layout.frame_owner += (size_t)owner;
    if (FrameProof_check(&layout) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    serve_doc,
    "serve(arm, grace_s)\n\n"
    "Opens a socket for viewers. Calls arm() to start tracing when the "
    "first viewer connects. Stops tracing grace_s seconds after the "
    "last viewer has left.");

static PyObject *serve(PyObject *module, PyObject *args)
{
    struct State *state = settled();
    PyObject *arm;
    struct Activation *activation = &ocular_service.activation;
    double grace_s;

    (void)module;
    if (!PyArg_ParseTuple(args, "Od:serve", &arm, &grace_s))
        return NULL;
    if (state->phase != PHASE_IDLE && !activation->persistent.server) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Ocular is tracing already: call ocular.serve() "
                        "before ocular.start_tracing(), or "
                        "ocular.stop_tracing() first");
        return NULL;
    }
    Py_XSETREF(activation->arm, Py_NewRef(arm));
    if (Activation_open(activation, grace_s) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(stop_serving_doc,
             "stop_serving()\n\n"
             "Ends what serve() has begun. Raises RuntimeError while the "
             "program itself traces.");

static PyObject *stop_serving(PyObject *module, PyObject *unused)
{
    struct State *state = settled();
    struct Activation *activation = &ocular_service.activation;

    (void)module, (void)unused;
    ChildStarter_cancel_serving(&ocular_service.child_starter);
    Activation_hold(activation);
    if (activation->armed && state->phase == PHASE_TRACING)
        Tracing_end(state);
    PyErr_Clear();
    if (state->phase == PHASE_IDLE)
        Activation_close(activation);
    else if (activation->persistent.server)
        PyErr_SetString(PyExc_RuntimeError,
                        "Ocular is tracing, and shows it where serve() "
                        "listens: call ocular.stop_tracing() first");
    Activation_let_go(activation, state->phase == PHASE_TRACING);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

// The activation thread calls this function some seconds after the last viewer
// has left, to end the session. If a viewer connects while the session ends,
// the viewer's connection stays open until the next session.
static void disarm(void)
{
    ocular_state.engine.session->hands_over = true;
    Tracing_end(&ocular_state);
    PyErr_Clear();
}

PyDoc_STRVAR(snapshot_doc, "snapshot() -> dict");

static PyObject *snapshot(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Tracing_snapshot(looked_at());
}

PyDoc_STRVAR(export_doc,
             "export(path: bytes) -> int\n\n"
             "Writes the timeline or the stacks to a file. Returns "
             "the size of the file in bytes.");

static PyObject *export(PyObject *module, PyObject *path)
{
    (void)module;
    if (!PyBytes_Check(path)) {
        PyErr_SetString(PyExc_TypeError, "path must be bytes");
        return NULL;
    }
    return Tracing_export(looked_at(), PyBytes_AS_STRING(path));
}

PyDoc_STRVAR(detail_doc,
             "detail(code) -> list or None\n\n"
             "Returns a dict for each instruction of a code object, or None if "
             "the code object is not traced.");

static PyObject *detail(PyObject *module, PyObject *code)
{
    (void)module;
    return Tracing_detail(settled(), code);
}

PyDoc_STRVAR(is_tracing_doc, "is_tracing() -> bool");

static PyObject *is_tracing(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(settled()->phase == PHASE_TRACING);
}

PyDoc_STRVAR(is_armed_doc,
             "is_armed() -> bool\n\n"
             "True if the session was started for a viewer.");

static PyObject *is_armed(PyObject *module, PyObject *unused)
{
    const struct State *state = settled();

    (void)module, (void)unused;
    return PyBool_FromLong(state->phase == PHASE_TRACING &&
                           ocular_service.activation.armed);
}

PyDoc_STRVAR(is_serving_doc,
             "is_serving() -> bool\n\n"
             "True from serve() until stop_serving(), also without a session.");

static PyObject *is_serving(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    settled();
    return PyBool_FromLong(ocular_service.activation.persistent.server != NULL);
}

PyDoc_STRVAR(socket_path_doc,
             "socket_path() -> str or None\n\n"
             "Returns the path of the socket to which viewers connect, or None "
             "if the process does not serve.");

static PyObject *socket_path(PyObject *module, PyObject *unused)
{
    const struct State *state = looked_at();
    const struct Server *server = ocular_service.activation.persistent.server;

    (void)module, (void)unused;
    if (!server && state->phase == PHASE_TRACING)
        server = state->engine.session->server;
    if (!server)
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(Server_path(server));
}

PyDoc_STRVAR(kept_doc,
             "kept() -> dict\n\n"
             "Returns the dict that the package keeps in the process. The dict "
             "is the same after the package has been imported again.");

static PyObject *kept(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!ocular_state.kept)
        ocular_state.kept = PyDict_New();
    return Py_XNewRef(ocular_state.kept);
}

PyDoc_STRVAR(fork_doc, "A handler for os.register_at_fork().");

static PyObject *before_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Fork_before(&ocular_service);
    Py_RETURN_NONE;
}

static PyObject *after_fork_in_parent(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Fork_after_in_parent(&ocular_service);
    Py_RETURN_NONE;
}

static PyObject *after_fork_in_child(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Fork_after_in_child(&ocular_service);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(on_fork_doc,
             "on_fork(callable)\n\n"
             "Sets the function that starts the session of a forked child. It "
             "is called if viewers could connect to the parent.");

static PyObject *on_fork(PyObject *module, PyObject *start_it)
{
    (void)module;
    Py_XSETREF(ocular_service.child_starter.start, Py_NewRef(start_it));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_package_doc,
             "set_package(folder: str)\n\n"
             "Sets Ocular's own folder, whose modules are never traced.");

static PyObject *set_package(PyObject *module, PyObject *folder)
{
    const char *text = PyUnicode_AsUTF8(folder);

    (void)module;
    if (!text)
        return NULL;
    snprintf(ocular_state.package, sizeof ocular_state.package, "%s", text);
    Py_RETURN_NONE;
}

// --- The number of children's files ------------------------------------------
// The number of forked children that have asked to write a timeline is in a
// page that parent and children share.

PyDoc_STRVAR(child_files_begin_doc,
             "child_files_begin()\n\n"
             "Sets the number of children that have asked to write a timeline "
             "to 0. Raises OSError if memory is out.");

static PyObject *child_files_begin(PyObject *module, PyObject *unused)
{
    void *page = mmap(NULL, sizeof(atomic_uint), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)module, (void)unused;
    if (page == MAP_FAILED)
        return PyErr_SetFromErrno(PyExc_OSError);
    if (ocular_service.child_files)
        munmap(ocular_service.child_files, sizeof(atomic_uint));
    ocular_service.child_files = page;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(child_files_take_doc,
             "child_files_take() -> int\n\n"
             "Notes that this child asks to write a timeline. Returns the "
             "number of children that have asked before.");

static PyObject *child_files_take(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!ocular_service.child_files)
        return PyLong_FromLong(0);
    return PyLong_FromUnsignedLong(
        atomic_fetch_add(ocular_service.child_files, 1));
}

PyDoc_STRVAR(child_files_count_doc,
             "child_files() -> int\n\n"
             "Returns the number of children that have asked to write a "
             "timeline.");

static PyObject *child_files_count(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!ocular_service.child_files)
        return PyLong_FromLong(0);
    return PyLong_FromUnsignedLong(atomic_load(ocular_service.child_files));
}

// --- Ocular's own cost, for tests and measuring programs --------------------

PyDoc_STRVAR(hook_cost_doc,
             "hook_cost() -> (enter, leave, jump, instruction, far)\n\n"
             "Returns the costs of hooks in TSC ticks, as measured at start. "
             "far is the additional cost of an offset that is not a small "
             "integer. instruction is 0 unless the mode is precise.");

static PyObject *hook_cost(PyObject *module, PyObject *unused)
{
    const int64_t *cost = ocular_state.engine.traces.cost;

    (void)module, (void)unused;
    return Py_BuildValue(
        "(LLLLL)", (long long)cost[HOOK_ENTER], (long long)cost[HOOK_LEAVE],
        (long long)cost[HOOK_JUMP], (long long)cost[HOOK_INSTRUCTION],
        (long long)(cost[HOOK_FAR + HOOK_LEAVE] - cost[HOOK_LEAVE]));
}

PyDoc_STRVAR(holds_doc,
             "holds() -> (count, seconds, longest)\n\n"
             "Returns the number of times that the governor has held the GIL "
             "since the start, its CPU time (s) with the GIL, and the CPU time "
             "(s) of the longest hold. Returns zeros if nothing is traced.");

static PyObject *holds(PyObject *module, PyObject *unused)
{
    struct Holds all = Governor_holds(&ocular_service);

    (void)module, (void)unused;
    return Py_BuildValue("(Kdd)", all.count, (double)all.held_ns * 1e-9,
                         (double)all.longest_ns * 1e-9);
}

static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, Start_doc},
    {"stop", stop, METH_VARARGS, stop_doc},
    {"check_frames", check_frames, METH_VARARGS, check_frames_doc},
    {"serve", serve, METH_VARARGS, serve_doc},
    {"stop_serving", stop_serving, METH_NOARGS, stop_serving_doc},
    {"is_armed", is_armed, METH_NOARGS, is_armed_doc},
    {"is_serving", is_serving, METH_NOARGS, is_serving_doc},
    {"snapshot", snapshot, METH_NOARGS, snapshot_doc},
    {"export", export, METH_O, export_doc},
    {"detail", detail, METH_O, detail_doc},
    {"is_tracing", is_tracing, METH_NOARGS, is_tracing_doc},
    {"socket_path", socket_path, METH_NOARGS, socket_path_doc},
    {"kept", kept, METH_NOARGS, kept_doc},
    {"before_fork", before_fork, METH_NOARGS, fork_doc},
    {"after_fork_in_parent", after_fork_in_parent, METH_NOARGS, fork_doc},
    {"after_fork_in_child", after_fork_in_child, METH_NOARGS, fork_doc},
    {"on_fork", on_fork, METH_O, on_fork_doc},
    {"set_package", set_package, METH_O, set_package_doc},
    {"child_files_begin", child_files_begin, METH_NOARGS,
     child_files_begin_doc},
    {"child_files_take", child_files_take, METH_NOARGS, child_files_take_doc},
    {"child_files", child_files_count, METH_NOARGS, child_files_count_doc},
    {"hook_cost", hook_cost, METH_NOARGS, hook_cost_doc},
    {"holds", holds, METH_NOARGS, holds_doc},
    {NULL, NULL, 0, NULL},
};

// Sets up the state. An import may fail half-way, and the program may then
// repeat the import. A repeated import calls everything but Engine_init again,
// because traced code may point to the engine.
static int initialise_state(struct State *state)
{
    int error = state->engine.registry ? 0 : Engine_init(&state->engine);

    if (error) {
        PyErr_NoMemory();
        return -1;
    }
    state->engine.traces.name = ThreadName_own;
    Activation_init(&ocular_service.activation, &state->engine.ending);
    ocular_service.activation.disarm = disarm;
    ThreadState_find();
    InterpreterFacts_layout(&state->engine.layout);
    state->engine.layout.own_state = OwnTrace_state;
    state->engine.layout.mark = &state->garbage.mark;
    GilFacts_find(state);
    if (Extra_init(state) < 0 || Callees_init(state) < 0 ||
        Tools_init(state) < 0 || Hooks_init(state) < 0 ||
        StandIn_init(state) < 0 || GarbageWatch_init(state) < 0 ||
        CFunctions_init(state) < 0 || InterpreterFacts_opcodes(state) < 0)
        return -1;
    error = Fork_init();
    // Ocular knows which thread state a thread runs only if the thread has a
    // record. Therefore the thread that imports the module gets a record
    // (struct ThreadTrace) here.
    OwnTrace_get(state, Clock_read(&state->engine.clock));
    if (!error)
        return 0;
    errno = -error;
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
}

static void note_end(void)
{
    ocular_state.finalized = true;
}

static int set_up(void)
{
    if (ocular_state.ready)
        return 0;
    if (initialise_state(&ocular_state) < 0)
        return -1;
    ocular_state.ready = true;
    Py_AtExit(note_end); // Py_AtExit fails if too many functions are registered
    return 0;
}

// The state outlives the module (see state.h), so a second import finds it
// ready. A subinterpreter must not import the module, since only the main
// interpreter is traced. An interpreter that is made after Py_Finalize must not
// import the module, either.
static int initialise(PyObject *module)
{
    if (ocular_state.finalized) {
        PyErr_SetString(PyExc_ImportError,
                        "Ocular has been imported in this process by an "
                        "interpreter that is gone (Py_Finalize), and cannot "
                        "begin anew: import it in a process of its own");
        return -1;
    }
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError,
                        "Ocular does not work in a subinterpreter: import it "
                        "in the main interpreter, whose code is then traced, "
                        "and no other's");
        return -1;
    }
    if (set_up() < 0)
        return -1;
    if (PyModule_AddFunctions(module, Program_methods) < 0 ||
        PyModule_AddFunctions(module, Marks_methods) < 0 ||
        PyModule_AddFunctions(module, Recordings_methods) < 0 ||
        Watched_add(module) < 0 ||
        PyModule_AddIntMacro(module, BY_PROGRAM) < 0 ||
        PyModule_AddIntMacro(module, BY_CHILD) < 0 ||
        PyModule_AddIntMacro(module, BY_WRITING_CHILD) < 0 ||
        PyModule_AddIntMacro(module, BY_ACTIVATION) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", OCULAR_VERSION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, initialise},
    // This slot makes CPython call initialise() in a subinterpreter, where
    // initialise() raises an error before it touches shared state.
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
