// SPDX-License-Identifier: MIT
// The binding's state: the engine and the Python objects that hooks and tools
// need. One static instance: code objects are freed, and hooks may run, after
// the module has been torn down, and a process has only one interpreter that
// we trace. Guarded by the interpreter's lock unless a member says otherwise.
#ifndef OCULAR_PYTHON_HOOKS_STATE_H
#define OCULAR_PYTHON_HOOKS_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef Py_GIL_DISABLED
#error "Ocular does not work on a free-threaded CPython: use a usual build"
#endif

#include "python/hooks/task_numbers.h"
#include "tracer/base/filter.h"
#include "tracer/code/fusion.h"
#include "tracer/session/session.h"

enum Phase { PHASE_IDLE, PHASE_STARTING, PHASE_TRACING, PHASE_STOPPING };

// The event that a hook object is registered for, in the order of EVENT_NAMES.
enum HookEvent {
    ON_START,
    ON_RESUME,
    ON_RETURN,
    ON_YIELD,
    ON_JUMP,
    ON_BRANCH, // both arms, before 3.14
    ON_BRANCH_LEFT,
    ON_BRANCH_RIGHT,
    ON_UNWIND,
    ON_THROW,
    ON_INSTRUCTION, // in precise mode only
    ON_CALL,        // once each call instruction, if code can go dark
    HOOK_EVENTS
};

// The names that are looked up in classes; python/hooks/callees.c.
enum CalleeName { NAME_CALL, NAME_NEW, NAME_INIT, NAME_FUNC, CALLEE_NAMES };

// The names that are looked up in asyncio's objects; python/hooks/tasks.c.
enum TaskName {
    TASK_SELF,
    TASK_CALLBACK,
    TASK_OWNER,
    TASK_GET_NAME,
    TASK_NAME,
    TASK_NAMES
};

// A code object that was classified but is not accepted. Its address, with
// EXTRA_OTHER set, is the code object's extra; an accepted one's is its struct
// Code.
struct OtherCode {
    PyCodeObject *code; // borrowed: unlinked when it is freed
    struct OtherCode *next;
    struct OtherCode **link;
};

#define EXTRA_OTHER 1u
// The low bits of the extra of code that was seen once, and left alone since
// the budget was overdrawn. Above them is the session's number: marks of
// earlier sessions are not cleared, and do not count.
#define EXTRA_SEEN (EXTRA_OTHER | 2u)

// The amount of code that was armed, first and again: both only grow.
struct Armed {
    uint64_t codes, units; // of bytecode
};

struct State {
    struct Engine engine;
    struct Fusion fusion;
    enum Phase phase;
    bool ready;     // set up, whole
    bool finalized; // its interpreter has been, and its objects are gone
    unsigned users; // threads inside calls that use the session, lock dropped
    // Read-locked by each thread of ours that has the interpreter's lock, or
    // waits for it (python/service/worker_state.h).
    pthread_rwlock_t attached;
    bool inherited; // the session was started by the child starter
    bool writes;    // its timeline is written at stop: not what a viewer has
                    // started, nor a child that was not asked to
    bool brief;     // the report at stop
    PyObject *kept; // dict: outlives the package, which may be reloaded

    Py_ssize_t extra; // co_extra index
    struct Filter filter;
    char package[4096]; // our own folder: never traced
    struct OtherCode *others;

    PyObject *disable; // sys.monitoring.DISABLE, immortal
    PyObject *hooks[HOOK_EVENTS];
    PyObject *discovery_hook;
    void (*on_silenced)(void); // Hooks_silence: at each event since
    bool fast; // hooks only write most events down, and were timed so
    PyObject *names[CALLEE_NAMES], *task_names[TASK_NAMES];
    struct TaskNumbers tasks; // of the session's timeline
    PyObject *use_tool_id, *free_tool_id, *get_tool, *register_callback;
    PyObject *get_events, *set_events, *set_local_events;
    PyObject *tool_names[2]; // discovery, tracer: what our ids are taken under
    long event_bits[HOOK_EVENTS]; // 0 = this version has no such event
    int discovery, tracer;        // tool ids, 0 = none
    bool held[2];                 // discovery, tracer: the id is still ours
    bool ids_lost;         // somebody took ids, events or callbacks of ours
    long global_events[2]; // that are set
    // The calls' arguments; local_events are the tracer's on accepted code.
    PyObject *tracer_id, *call_event;
    PyObject *local_events[2][2]; // with jumps and branches; with calls
    PyObject *no_events;
    bool precise;            // the session's mode
    bool shows_instructions; // in its timeline

    struct Armed armed;
    struct Code *look_next;  // where the rounds go on; moved on
    struct Code *slice_next; // when that code object is freed
    uintptr_t seen;          // EXTRA_SEEN, as this session has it
    uint64_t seen_once;      // codes that were given that
    uint64_t put_off_next;   // Adopt_running_put_off: whose turn it is
    double switch_interval;  // s, sys.getswitchinterval()
};

extern struct State ocular_state;

#endif
