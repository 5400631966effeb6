// SPDX-License-Identifier: MIT
// struct Changes tells a viewer how the numbers of functions decay that have
// not run since the previous snapshot. struct Changes also says which functions
// are gone. The server builds a struct Changes, and a viewer's client applies
// it to its last snapshot.
#pragma once

#include "ipc/snapshot.h"

// How the numbers of a function change while the function does not run.
struct Fading {
    // Factor by which to multiply the shares in the newest seconds, and the
    // rates that are estimated from these shares.
    double window_kept;
    double run_kept;  // Factor by which to multiply Function.run_share.
    double elapsed_s; // Seconds to add to Function.age_s.
};

struct GoneFunction {
    uint64_t id;
};

struct Changes {
    double base_s; // Snapshot.uptime_s of the previous snapshot.
    struct Fading fading;
    const struct GoneFunction *gone;
    size_t gone_count;
    struct Arena arena;
};

extern const struct Record CHANGES_RECORD;

void Changes_free(struct Changes *changes);

// Changes the numbers of one function by the factors and seconds in `fading`.
// The function's list of callers is changed in a copy in `arena`. Returns false
// if there is no memory.
bool Fading_apply(const struct Fading *fading, struct Function *function,
                  struct Arena *arena);
// Adds to the snapshot `next`, which has only the functions that have changed
// since `base`, copies of all other functions of `base`. At the end the
// functions of `next` are sorted. Returns 0 or -ENOMEM.
int Changes_apply(const struct Changes *changes, const struct Snapshot *base,
                  struct Snapshot *next);
