// SPDX-License-Identifier: MIT
// The state behind the hooks: our threads, and their state around a fork. One
// static instance, beside ocular_state, which it works on. Guarded by the
// interpreter's lock unless a member says otherwise.
#ifndef OCULAR_PYTHON_SERVICE_SERVICE_H
#define OCULAR_PYTHON_SERVICE_SERVICE_H

#include "python/hooks/state.h"
#include "python/service/activation.h"
#include "python/service/child_starter.h"
#include "python/service/poll.h"
#include "python/service/thread_list.h"

struct Service {
    struct State *state; // the hooks'

    // Around a fork (fork.h).
    bool forked;        // this process is a child that does not trace any more,
    bool leftover;      // and has still to let its parent's session go: a call
    uint64_t forked_ns; // of ours, or 100 ms from here (CLOCK_MONOTONIC)
    bool detached;      // the fork under way holds State.attached
    bool pausing;       // our threads are being ended for it
    bool ended;         // they have been: none runs
    bool paused;        // some are to start again
    bool resuming;      // a pending call will do that
    uint32_t fork_depth; // of the Python frame that called os.fork()
    pthread_t forker;    // the thread that is in os.fork() or the like; or 0
    bool child_serves;   // in a child: its parent has served idly,
    bool child_traces;   // or has a trace of its own that is served

    uint32_t spans;                // the number of the newest
    _Atomic unsigned *child_files; // children that have asked to write a
                                   // timeline, shared with them; or NULL
    struct ChildStarter child_starter;
    struct Activation activation;
    struct Governor *governor;      // NULL: no session
    PyThreadState *governor_thread; // its thread's; NULL: none runs
    struct ThreadList thread_list;  // the governor's
    struct Poll poll;
};

extern struct Service ocular_service;

// Those that ThreadList leaves out.
static inline struct OurThreads Service_threads(const struct Service *service)
{
    return (struct OurThreads){{service->governor_thread,
                                service->child_starter.thread_state,
                                service->activation.thread_state}};
}

#endif
