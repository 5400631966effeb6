// SPDX-License-Identifier: MIT
// Runs the background thread "ocular-governor". From time to time the governor
// holds the GIL for a short time, called a hold. In a hold the governor lists
// the thread states for the sampler, scans live bytecode, arms functions and
// reads the text of operands for viewers.
#pragma once

#include "python/service/service.h"

// struct Holds has the number and the CPU time of the governor's holds.
struct Holds {
    unsigned long long count;
    uint64_t held_ns; // the sum of all holds
    uint64_t longest_ns;
};

// Starts the thread. Returns 0, or -1 with an exception. The caller holds the
// GIL.
int Governor_start(struct Service *service);
// Ends the thread. Releases the GIL while it joins the thread.
void Governor_stop(struct Service *service);
// Before a fork, Governor_pause releases the GIL and ends the thread.
// Governor_resume starts the thread again and returns 0 or -errno. After an
// error Governor_resume can be called again.
void Governor_pause(struct Service *service);
int Governor_resume(struct Service *service);
// Forgets the thread in a forked child.
void Governor_abandon(struct Service *service);
// Returns the CPU time of all holds since the start, or zeros if no governor
// runs. The caller holds the GIL.
struct Holds Governor_holds(const struct Service *service);
