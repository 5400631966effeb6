// SPDX-License-Identifier: MIT
// The state of our threads, also around a fork. The process has one struct
// Service, which works on ocular_state. The GIL guards every member whose
// comment names no other rule.
#ifndef OCULAR_PYTHON_SERVICE_SERVICE_H
#define OCULAR_PYTHON_SERVICE_SERVICE_H

#include "python/hooks/state.h"
#include "python/service/activation.h"
#include "python/service/child_starter.h"
#include "python/service/poll.h"
#include "python/service/thread_list.h"

struct Service {
    struct State *state; // &ocular_state

    // Around a fork (fork.h).
    bool forked;         // this process is a child whose hooks are to stop.
    bool leftover;       // the child has not freed the parent's session yet.
    uint64_t forked_ns;  // time of the fork in the child, CLOCK_MONOTONIC.
    bool detached;       // the current fork holds State.attached.
    bool pausing;        // our threads are being ended for a fork.
    bool ended;          // our threads have been ended for a fork.
    bool paused;         // some of our threads must be started again.
    bool resuming;       // a pending call will start them.
    uint32_t fork_depth; // recursion depth of the caller of os.fork()
    pthread_t forker;    // the thread that runs os.fork() or the like; or 0.
    bool child_serves;   // in a child: the parent served idly.
    bool child_traces;   // in a child: the parent's own trace was served.

    uint32_t spans;                // number of the newest span
    _Atomic unsigned *child_files; // number of children that have asked to
                                   // write a timeline, in memory shared with
                                   // them; or NULL
    struct ChildStarter child_starter;
    struct Activation activation;
    struct Governor *governor;      // NULL if no session runs
    PyThreadState *governor_thread; // NULL if the governor does not run
    struct ThreadList thread_list;  // only for the governor
    struct Poll poll;
};

extern struct Service ocular_service;

// Returns the thread states that ThreadList leaves out.
static inline struct OurThreads Service_threads(const struct Service *service)
{
    return (struct OurThreads){{service->governor_thread,
                                service->child_starter.thread_state,
                                service->activation.thread_state}};
}

#endif
