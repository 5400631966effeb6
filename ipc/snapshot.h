// SPDX-License-Identifier: MIT
// The state of a traced process at one moment: the value that the tracer
// builds, the wire carries, ocular-top shows and ocular.snapshot() returns. A
// snapshot is built by one thread and never changed afterwards; any thread may
// read it.
#ifndef OCULAR_IPC_SNAPSHOT_H
#define OCULAR_IPC_SNAPSHOT_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

#include <stdbool.h>

#define SNAPSHOT_SCHEMA 1 // the value of Snapshot.schema

enum FunctionState { STATE_ARMED, STATE_PARTIAL, STATE_DARK };

// A function's part of something that is shared out: of another's total share,
// as its caller; of a thread's CPU time.
struct Caller {
    uint64_t id; // null: all the others
    double share;
};

struct Thread {
    uint64_t tid;
    const char *name;
    double cpu_share; // fraction of one core's wall time, in the window
    double wait_share;
    uint64_t samples;
    double cpu_s; // CPU time since tracing began, or since it was first seen
    uint64_t ended;
    const struct Caller *functions; // of its cpu_share; not of one that ended
    size_t function_count;
};

struct Function {
    uint64_t id;
    const char *name; // qualified name
    const char *file;
    uint64_t line;
    uint64_t calls; // begun, as counted; a floor unless calls_exact
    uint64_t calls_exact;
    double calls_estimated;
    double calls_error; // of it, one standard deviation
    double calls_per_s;
    uint64_t rate_estimated; // calls_per_s is estimated, not counted
    double share;            // fractions of one core's wall time, in the window
    double cpu_share;
    double wait_share;
    double c_share;
    double total_share;
    double run_share; // cpu_share since the start of the trace
    uint64_t samples;
    uint64_t self_cycles; // cycles are TSC ticks, net of the hooks' own cost
    uint64_t total_cycles;
    double avg_cycles;      // self cycles per call; timed, or else
    uint64_t avg_estimated; // from the samples' share of total_cycles
    double min_cycles;
    double p50_cycles;
    double p99_cycles;
    uint64_t waited_cycles;
    uint64_t state; // enum FunctionState
    double age_s;
    uint64_t sites;
    uint64_t dark_sites;
    uint64_t specialized_sites;
    uint64_t specializable_sites;
    const struct Caller *callers;
    size_t caller_count;
    uint64_t run_samples;     // of samples: it had CPU time then
    double calls_per_s_error; // calls a second, one standard deviation; null:
                              // it is counted, or not known
    uint64_t resumptions; // times that a call went on after a yield or an await
    double missed_per_s;  // calls_estimated grows by that; 0: all are counted
};

struct Transition {
    double seen_at_s;
    const char *function;
    const char *file;
    uint64_t line;   // of the instruction
    uint64_t offset; // bytes
    const char *from;
    const char *to;
    uint64_t storm; // bool: the site has changed again and again
    uint64_t id;    // of the function
    uint64_t deopt; // bool: it was specialised, and is no more
};

struct TransitionPair {
    const char *from;
    const char *to;
    uint64_t count;
    uint64_t deopt; // bool, as above
};

// A function of which code objects are gone; all of them have one row.
struct RetiredRow {
    const char *name; // "(others)", without a place: those that had no row left
    const char *file;
    uint64_t line;
    uint64_t objects; // code objects
    uint64_t calls;
    uint64_t calls_exact;
    uint64_t self_cycles;
    uint64_t total_cycles;
    uint64_t waited_cycles;
    double run_share; // of their CPU time, since the start of the trace
    uint64_t samples;
    uint64_t run_samples;
    uint64_t resumptions;
};

struct RowSet;

struct Snapshot {
    uint64_t schema;
    const char *version; // of Ocular
    uint64_t pid;
    const char *command;
    const char *python;
    const char *mode;
    uint64_t threshold;
    double uptime_s; // since tracing started
    double tsc_hz;
    uint64_t events;
    uint64_t lost;
    uint64_t memory_bytes;
    double overhead_measured; // shares of the process's CPU time
    double overhead_budget;
    double overhead_hooks;
    double overhead_rearm;
    double overhead_threads;
    double overhead_allowed; // the budget, or what it is of a fifth of a core
    double overhead_mean;    // measured since tracing began
    double overhead_cores;   // measured and allowed as parts of one core
    double overhead_cores_allowed;
    uint64_t sites_armed;
    uint64_t sites_dark;
    double sampler_hz;             // samples a second, in the window
    uint64_t sampler_samples;      // of running threads, since the start
    uint64_t sampler_unknown;      // of these: stacks that could not be read
    double sampler_elsewhere;      // share of time in no accepted function
    uint64_t sampler_truncated;    // samples of stacks too deep for it
    const char *sampler_trouble;   // why it sees nothing, though it should
    double sampler_window_s;       // that all shares are over, and the samples
    double sampler_window_samples; // of running threads in it
    uint64_t sampler_signal;       // that samples come by; null: there are
                                   // only looks at all threads, at 20 Hz
    uint64_t sampler_lost;         // samples without room
    uint64_t sampler_in_hooks;     // samples that found a hook running
    uint64_t sampler_untimed;      // threads that could have no timer
    uint64_t functions_total;
    uint64_t states_armed; // functions of each state
    uint64_t states_partial;
    uint64_t states_dark;
    const struct Thread *threads;
    size_t thread_count;
    const struct Function *functions;
    size_t function_count;
    const struct Transition *transitions;
    size_t transition_count;
    const struct TransitionPair *transition_pairs;
    size_t transition_pair_count;
    const struct RetiredRow *retired;
    size_t retired_count;
    uint64_t threads_dropped; // that have ended and are not listed any more
    // Beside the table: in a traced process functions are here and not above,
    // in rows that several snapshots have (row_set.h). NULL: they are above.
    const struct RowSet *shared;
    unsigned held;      // times that Snapshot_free does nothing
    struct Arena arena; // everything above points into it
};

// --- The schema (record.h). Rows of the tables in snapshot.c are only ever
// appended: their order is the wire's.

extern const struct Record SNAPSHOT_RECORD; // the root

const char *State_name(uint64_t state); // "armed", "partial", "dark"; or NULL

// A new, empty snapshot: every U64/F64/TEXT member null, every list empty.
// NULL when memory is out. The caller owns it.
struct Snapshot *Snapshot_new(void);
void Snapshot_free(struct Snapshot *snapshot); // NULL is fine
// Another owner, on the same thread, who frees it too.
struct Snapshot *Snapshot_hold(struct Snapshot *snapshot);
// Makes it as a new one is, in memory that it has already.
void Snapshot_renew(struct Snapshot *snapshot);

// Memory that lives as long as the snapshot; zeroed; NULL when memory is out.
void *Snapshot_alloc(struct Snapshot *snapshot, size_t size);
// A copy of text (NULL stays NULL); NULL when memory is out.
const char *Snapshot_text(struct Snapshot *snapshot, const char *text);
// Bytes held, for memory accounts.
size_t Snapshot_bytes(const struct Snapshot *snapshot);

#endif
