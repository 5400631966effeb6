// SPDX-License-Identifier: MIT
// struct Changes describes the functions that have not run since the previous
// snapshot. struct Changes says how the numbers of these functions fade, and
// which functions are gone. The server builds struct Changes, and a viewer's
// client applies struct Changes to its last snapshot.
#ifndef OCULAR_IPC_CHANGES_H
#define OCULAR_IPC_CHANGES_H

#include "ipc/snapshot.h"

// Says how the numbers of a function change while the function does not run.
struct Fading {
    // Factor for the shares of the window and for the rates that are estimated
    // from these shares.
    double window_kept;
    double run_kept;  // factor for run_share
    double elapsed_s; // s to add to age_s
};

struct GoneFunction {
    uint64_t id;
};

struct Changes {
    double base_s; // uptime_s of the previous snapshot
    struct Fading fading;
    const struct GoneFunction *gone;
    size_t gone_count;
    struct Arena arena;
};

extern const struct Record CHANGES_RECORD;

struct Changes *Changes_new(void); // NULL if memory is out
void Changes_free(struct Changes *changes);

// Applies `fading` to one function, whose list of callers is copied into
// `arena`. Returns false if memory is out.
bool Fading_apply(const struct Fading *fading, struct Function *function,
                  struct Arena *arena);
// `next` has only the functions that have changed since `base`. Adds copies of
// all other functions to `next`, and sorts the functions of `next`. Returns 0
// or -ENOMEM.
int Changes_apply(const struct Changes *changes, const struct Snapshot *base,
                  struct Snapshot *next);

#endif
