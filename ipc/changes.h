// SPDX-License-Identifier: MIT
// The difference of two snapshots, beside the functions that have changed: how
// the numbers of all others fade, and which functions have gone. The server
// makes it, the wire carries it, a viewer's client applies it.
#ifndef OCULAR_IPC_CHANGES_H
#define OCULAR_IPC_CHANGES_H

#include "ipc/snapshot.h"

// Numbers of a function that change while nothing happens.
struct Fading {
    double window_kept; // factor of shares of the window, and of rates by them
    double run_kept;    // factor of run_share
    double elapsed_s;   // added to age_s
};

struct GoneFunction {
    uint64_t id;
};

struct Changes {
    double base_s; // uptime_s of the snapshot before
    struct Fading fading;
    const struct GoneFunction *gone;
    size_t gone_count;
    struct Arena arena;
};

extern const struct Record CHANGES_RECORD;

struct Changes *Changes_new(void); // NULL when memory is out
void Changes_free(struct Changes *changes);

// Of one function; its callers are copied into the arena. false: memory is out.
bool Fading_apply(const struct Fading *fading, struct Function *function,
                  struct Arena *arena);
// `next` has the functions that have changed since `base`: gives it the others,
// copied, and the order. 0 or -ENOMEM.
int Changes_apply(const struct Changes *changes, const struct Snapshot *base,
                  struct Snapshot *next);

#endif
