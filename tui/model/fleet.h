// SPDX-License-Identifier: MIT
// A fleet stands for all processes of one service, a master and its workers.
// For the feed, a fleet replaces one live process. A fleet finds the workers,
// connects to each of them, and gives the feed merged snapshots. Requests go to
// all processes. A request for code only goes to the process whose numbers
// stand out. None of these functions waits for a process.
#pragma once

#include "ipc/wire.h"
#include "tui/model/standout.h"

#include <stdbool.h>

#define FLEET_MOST 64 // Maximum number of processes of a fleet.

struct Fleet;

struct FleetWorker {
    uint64_t pid;
    uint64_t master; // bool: true for the master.
    // bool: true if the merged snapshot contains the process's newest numbers.
    uint64_t merged;
    // Reason why the merged snapshot lacks the process's numbers, or only its
    // shares and rates. NULL if nothing is missing.
    const char *why;
    double uptime_s;    // Seconds since tracing began.
    double silent_s;    // Seconds since the newest message of the process.
    double cpu_share;   // CPU time as a part of one core, by samples.
    double calls_per_s; // Calls of all functions.
};

struct FleetState { // The fleet's state for the views and for JSON.
    struct FleetWorker items[FLEET_MOST];
    const struct FleetWorker *workers; // `items`
    size_t worker_count;
    // Number of ended processes. The counts of ended processes are in the
    // merged snapshot.
    uint64_t workers_ended;
    // Number of processes without a place in the fleet, because it has at most
    // FLEET_MOST.
    uint64_t workers_beyond;
};

// Returns true if the process has a worker that serves viewers.
bool Fleet_is_wanted(pid_t master);
// Finds the processes and begins to connect to them. Returns 0, or -errno with
// a sentence in `why`.
int Fleet_open(struct Fleet **fleet, pid_t master, double rate_s, char *why,
               size_t why_size);
void Fleet_close(struct Fleet *fleet); // `fleet` may be NULL.
int Fleet_fd(const struct Fleet *fleet);
// Like Client_next, returns 1 with a message, 0 if none is due, or -errno.
// -EPIPE: all processes have ended.
int Fleet_next(struct Fleet *fleet, struct Message *message);
// Returns what Client_request returns, or -ENOTSUP if only a single process can
// serve the request.
int Fleet_request(struct Fleet *fleet, struct Message *request);
void Fleet_state(const struct Fleet *fleet, struct FleetState *state);
// Returns true if the master has ended.
bool Fleet_master_ended(const struct Fleet *fleet);
// Returns the processes whose numbers stand out in the newest merged snapshot
// (standout.h).
const struct Standouts *Fleet_standouts(const struct Fleet *fleet);
// Returns the process from which a function's code was requested last, or 0.
pid_t Fleet_code_pid(const struct Fleet *fleet);
// Returns true if the newest stacks contain the CPU time of all counted calls.
// All counted calls have stacks only if each process has sent its stacks and no
// process has ended.
bool Fleet_has_all_stacks(const struct Fleet *fleet);

// Describes struct FleetState for JSON.
extern const struct Record FLEET_RECORD;
