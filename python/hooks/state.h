// SPDX-License-Identifier: MIT
// Holds the state of the Python binding. The state is the engine and the Python
// objects that hooks and tools need. The state is one static instance, because
// CPython frees code objects and runs hooks even after the module has been torn
// down. One instance is enough, because only one interpreter of a process is
// traced. The GIL guards every member unless the member's comment names another
// rule.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef Py_GIL_DISABLED
#error "Ocular does not work on a free-threaded CPython: use a usual build"
#endif

#include "python/hooks/task_numbers.h"
#include "tracer/base/filter.h"
#include "tracer/code/fusion.h"
#include "tracer/session/session.h"

// Ocular's two tools of sys.monitoring (tools.h).
enum Tool { TOOL_DISCOVERY, TOOL_TRACER, TOOLS };

enum Phase { PHASE_IDLE, PHASE_STARTING, PHASE_TRACING, PHASE_STOPPING };

// Lists the events for which hook objects are registered, in the order of
// EVENT_NAMES (tools.c).
enum HookEvent {
    ON_START,
    ON_RESUME,
    ON_RETURN,
    ON_YIELD,
    ON_JUMP,
    ON_BRANCH, // branches taken and not taken, before CPython 3.14
    ON_BRANCH_LEFT,
    ON_BRANCH_RIGHT,
    ON_UNWIND,
    ON_THROW,
    ON_INSTRUCTION, // This event is used only in precise mode.
    // This event comes once per call instruction, only if code can go dark.
    ON_CALL,
    ON_LINE,
    ON_RAISE, // This event is global in every version.
    // These events come only if calls of C functions are counted.
    ON_C_RETURN,
    ON_C_RAISE,
    HOOK_EVENTS
};

// Lists the names of attributes that hooks look up (callees.c).
enum Name {
    NAME_CALL,
    NAME_NEW,
    NAME_INIT,
    NAME_FUNC,
    NAME_MODULE,
    NAME_NAME,
    NAME_QUALNAME,
    TASK_CALLBACK, // From here on, the attributes of asyncio's objects.
    TASK_OWNER,
    TASK_GET_NAME,
    TASK_NAME,
    TASK_COROUTINE,
    TASK_WHEN,
    TASK_DATA,
    TASK_DONE,
    TASK_PARENT, // An attribute of a TaskGroup.
    NAME_COUNT
};

// Stands for a rejected code object. The extra of a rejected code object is the
// address of its struct OtherCode with the bit EXTRA_OTHER set. The extra of an
// accepted code object is the address of its struct Code.
struct OtherCode {
    // Borrowed reference. The code's free function unlinks this struct.
    PyCodeObject *code;
    struct OtherCode *next;
    struct OtherCode **link;
    uint8_t steps; // see Extra_steps
};

// Largest number of code objects whose step hooks can be switched on again.
#define STEP_CODES 32

// The objects with which garbage_watch.c watches the garbage collector.
struct GarbageWatch {
    PyObject *code;       // The code object that stands for the collector.
    PyObject *callback;   // Ocular's entry in gc.callbacks.
    PyObject *callbacks;  // The list gc.callbacks, or NULL if it is no list.
    PyObject *generation; // The text "generation".
    bool on;              // True while `callback` is to be in the list.
    struct WalkMark mark; // The running collection, for walks over frames.
};

// Types with which raise_watch.c recognises control flow.
struct RaiseWatch {
    // Points to the address of the newest type of control flow, as in struct
    // ExceptionKind. NULL if no such type was seen.
    const void *const *flow;
    const void *lasting; // `flow` may point to this member
};

#define SEEN_FUNCTIONS 256

// A C function whose stand-in c_functions.c has found.
struct SeenFunction {
    const void *address; // Identifies the C function. NULL if there is none.
    struct Code *code;   // The record of the stand-in.
};

// The tracer of objects (object_watch.h).
struct ObjectWatch {
    struct Objects *objects;               // The counts, or NULL.
    const PyInterpreterState *interpreter; // Its objects are counted.
    bool sets;     // True while Ocular itself sets or removes the tracer.
    bool collects; // True if deaths in garbage collections are counted.
    // Only the governor's thread uses the next members.
    bool taken;                // True if another tool has set a tracer.
    bool open;                 // A window may be open.
    bool late;                 // The newest wait for the GIL was long.
    struct Objects *fresh;     // Memory for the counts, or NULL.
    struct ObjectTable *table; // Memory for the next table, or NULL.
    unsigned steps;            // Number of steps so far, up to a limit.
    double next_s;             // CLOCK_MONOTONIC of the next step.
    uint32_t random;
};

#define EXTRA_OTHER 1u
// An extra has these low bits if its code object was called once and not
// classified, because the budget was overdrawn. The higher bits hold the
// session's number, so that marks of earlier sessions can be ignored instead of
// cleared.
#define EXTRA_SEEN (EXTRA_OTHER | 2u)

// struct Armed says how much code was armed in this process. Code that is armed
// again is counted again, so both numbers only grow.
struct Armed {
    uint64_t codes, units; // number of code objects, and of their code units
};

struct State {
    struct Engine engine;
    struct Fusion fusion;
    enum Phase phase;
    bool ready;     // True if all parts have been set up.
    bool finalized; // True if Python was finalised, so its objects are gone.
    unsigned users; // Number of threads that use the session without the GIL.
    // Each thread of Ocular holds a read lock on `attached` while the thread
    // holds the GIL or waits for the GIL (python/service/worker_state.h).
    pthread_rwlock_t attached;
    bool inherited; // True if the child starter has started the session.
    // True if stop() writes the timeline. False if a viewer has started the
    // session, or if this is a child that was not asked to write.
    bool writes;
    bool brief; // True if stop() makes the short report.
    // Dict of objects that must outlive a reload of the package.
    PyObject *kept;

    Py_ssize_t extra; // Ocular's index in co_extra
    struct Filter filter;
    char package[4096]; // Ocular's own folder, whose code is not traced
    struct OtherCode *others;

    PyObject *disable; // sys.monitoring.DISABLE, immortal
    PyObject *hooks[HOOK_EVENTS];
    PyObject *discovery_hook;
    PyObject *step_hook; // Ends steps of event loops.
    // Weak references to code that begins steps, and the number of steps until
    // steps are switched off (0 = never).
    PyObject *step_codes[STEP_CODES];
    unsigned step_code_count, steps_left;
    bool other_loops; // True if a loop runs steps that is not asyncio's own.
    struct TaskWatch *task_watch; // NULL if nobody asks for asyncio's tasks.
    // Time of CLOCK_MONOTONIC at which steps were switched on or off, or
    // renewed.
    double steps_s;
    void (*on_silenced)(void); // Called at each event after Hooks_silence.
    bool fast; // True if the hooks use the fast path, which was calibrated.
    PyObject *names[NAME_COUNT]; // Interned texts.
    struct TaskNumbers tasks;    // Numbers of asyncio's tasks in the timeline.
    struct GarbageWatch garbage;
    // Parts of all stand-ins (stand_in.h), and the code units of their hits.
    PyObject *stand_in_bytecode, *stand_in_lines, *stand_in_consts;
    uint8_t begin_unit, end_unit;
    struct Gil gil; // The sampler reads this struct without the GIL.

    PyObject *c_functions; // See c_functions.c; NULL before the first one.
    PyObject *c_file;      // The file name of stand-ins for C functions.
    // The newest functions in c_functions, by a hash of the address.
    struct SeenFunction c_seen[SEEN_FUNCTIONS];
    struct RaiseWatch raises;
    struct ObjectWatch watch;
    PyObject *use_tool_id, *free_tool_id, *get_tool, *register_callback;
    PyObject *get_events, *set_events, *set_local_events;
    PyObject *tool_names[TOOLS];
    PyObject *tool_ids[TOOLS];    // Python ints, or NULL if none was taken.
    long event_bits[HOOK_EVENTS]; // The bit of each event, or 0.
    bool dropped[HOOK_EVENTS];    // True if the tracer has no hook.
    bool held[TOOLS];             // True if Ocular holds the tool's id.
    // True if another tool took ids, events or callbacks of Ocular.
    bool ids_lost;
    long global_events[TOOLS]; // Bits of the global events that are set.
    // Number of PY_UNWIND events until the event is switched off (0 = never).
    unsigned unwinds_left;
    // Time of CLOCK_MONOTONIC at which PY_UNWIND was last switched off or was
    // allowed for another second.
    double unwinds_s;
    // These objects are arguments of calls of sys.monitoring. local_events has
    // the tracer's event bits for accepted code.
    PyObject *call_event;
    // The first index is 0 without jumps, branches and lines, 1 without lines,
    // and 2 with all of them. The second index is 1 if CALL events are
    // included, otherwise 0.
    PyObject *local_events[3][2];
    PyObject *no_events;
    unsigned chosen;         // Bits of enum Chosen.
    bool can_darken;         // True if code can go dark.
    bool sees_c;             // True if C functions have rows.
    bool counts_c;           // True if all calls of C functions are counted.
    bool precise;            // True if the session runs in precise mode.
    bool shows_instructions; // True if the timeline has each instruction.

    struct Armed armed;
    struct Code *look_next;  // Next code that the governor polls.
    struct Code *slice_next; // Next code that a slice arms.
    uintptr_t seen;          // The mark (EXTRA_SEEN) of this session.
    bool tasks_ran;          // True if tasks existed when tracing began.
    uint64_t seen_once;      // Number of code objects with the mark.
    // number of the thread that Adopt_running_put_off examines next
    uint64_t put_off_next;
    double switch_interval; // seconds, from sys.getswitchinterval()
};

extern struct State ocular_state;
