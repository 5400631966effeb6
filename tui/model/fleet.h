// SPDX-License-Identifier: MIT
// A fleet stands for all processes of one service, a master and its workers. In
// the feed, a fleet takes the place of one live process. A fleet finds the
// workers, has a connection to each of them, and sends the feed merged
// snapshots. Requests go to all processes, and a request for code goes to the
// process that stands out. None of these functions waits for a process.
#pragma once

#include "ipc/wire.h"
#include "tui/model/fold.h"
#include "tui/model/standout.h"

#include <stdbool.h>

#define FLEET_MOST 64 // maximum number of processes of a fleet

struct Fleet;

struct FleetWorker {
    uint64_t pid;
    uint64_t master; // bool: this process is the master.
    uint64_t merged; // bool: the merged snapshot has its newest numbers.
    // Reason why the merged snapshot lacks the process's numbers, or only its
    // shares and rates. NULL if nothing is missing.
    const char *why;
    double uptime_s;    // Seconds since tracing began.
    double silent_s;    // Seconds since the process's newest message.
    double cpu_share;   // CPU time as a part of one core, by samples.
    double calls_per_s; // Calls of all functions.
};

struct FleetState { // the fleet's state for the views and for JSON
    struct FleetWorker items[FLEET_MOST];
    const struct FleetWorker *workers; // `items`
    size_t worker_count;
    // Number of ended processes, whose counts are merged.
    uint64_t workers_ended;
    uint64_t workers_beyond; // Number of processes beyond FLEET_MOST.
};

// Returns true if the process has a worker that serves.
bool Fleet_is_wanted(pid_t master);
// Finds the processes and begins to connect to them. Returns 0, or -errno with
// a sentence in `why`.
int Fleet_open(struct Fleet **fleet, pid_t master, double rate_s, char *why,
               size_t why_size);
void Fleet_close(struct Fleet *fleet); // `fleet` may be NULL
int Fleet_fd(const struct Fleet *fleet);
// Like Client_next, returns 1 with a message, 0 if none is due, or -errno.
// -EPIPE: all processes have ended.
int Fleet_next(struct Fleet *fleet, struct Message *message);
// Returns the same as Client_request, or -ENOTSUP if only one process can serve
// the request.
int Fleet_request(struct Fleet *fleet, struct Message *request);
void Fleet_state(const struct Fleet *fleet, struct FleetState *state);
// Returns the processes that stand out in the newest merged snapshot
// (standout.h).
const struct Standouts *Fleet_standouts(const struct Fleet *fleet);
// Returns the process from which a function's code was requested last, or 0.
pid_t Fleet_code_pid(const struct Fleet *fleet);
// Returns true if the newest stacks have the whole CPU time of the counted
// calls, because each process has sent its stacks and no process has ended.
bool Fleet_has_all_stacks(const struct Fleet *fleet);

extern const struct Record FLEET_RECORD; // describes struct FleetState for JSON
