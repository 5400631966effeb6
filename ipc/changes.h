// SPDX-License-Identifier: MIT
// struct Changes tells a viewer about the functions that have not run since the
// previous snapshot: how their numbers decay, and which functions are gone. The
// server builds a struct Changes, and a viewer's client applies it to its last
// snapshot.
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

// Changes the numbers of one function as `fading` says. Copies the function's
// list of callers into `arena`. Returns false if there is no memory.
bool Fading_apply(const struct Fading *fading, struct Function *function,
                  struct Arena *arena);
// Completes the snapshot `next`, which has only the functions that have changed
// since `base`. Adds copies of all other functions to `next`, and sorts the
// functions of `next`. Returns 0 or -ENOMEM.
int Changes_apply(const struct Changes *changes, const struct Snapshot *base,
                  struct Snapshot *next);
