// SPDX-License-Identifier: MIT
// struct Service has the state of Ocular's threads, including the state before
// and after a fork. The process has one struct Service, which works on
// ocular_state. The GIL guards every member unless the member's comment names
// another rule.
#pragma once

#include "python/hooks/state.h"
#include "python/service/activation.h"
#include "python/service/child_starter.h"
#include "python/service/poll.h"
#include "python/service/thread_list.h"

struct Service {
    struct State *state; // always &ocular_state

    // The next fields are used before and after a fork (fork.h).
    bool forked;         // This process is a child whose hooks must be stopped.
    bool leftover;       // The child has not freed the parent's session yet.
    uint64_t forked_ns;  // Time of the fork in the child, CLOCK_MONOTONIC.
    bool detached;       // The thread that forks holds State.attached.
    bool threaded;       // At a fork in C the program had other threads.
    bool pausing;        // Ocular's threads are ending for a fork.
    bool ended;          // Ocular's threads have ended for a fork.
    bool paused;         // Some of Ocular's threads must be started again.
    bool resuming;       // A pending call will start Ocular's threads again.
    uint32_t fork_depth; // Recursion depth of the caller of os.fork().
    // the thread that runs os.fork() or a similar function, or 0
    pthread_t forker;

    uint32_t spans; // Number of the newest span.
    // Number of children that have asked to write a timeline, in memory shared
    // with the children, or NULL.
    _Atomic unsigned *child_files;
    struct ChildStarter child_starter;
    struct Activation activation;
    struct Governor *governor;      // NULL if no session runs.
    PyThreadState *governor_thread; // NULL if the governor does not run.
    struct ThreadList thread_list;  // Only the governor's thread uses the list.
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
