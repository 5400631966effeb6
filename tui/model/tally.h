// SPDX-License-Identifier: MIT
// What is true of all functions of a snapshot together, and of the time since
// the snapshot before. Owned by the model, drawn by the header. One thread.
#ifndef OCULAR_TUI_MODEL_TALLY_H
#define OCULAR_TUI_MODEL_TALLY_H

#include "ipc/snapshot.h"

#include <stddef.h>

struct Tally { // over all functions, or the time since the snapshot before
    size_t armed;
    size_t partial;
    size_t dark;
    double oldest_s; // the oldest data of one that runs and is not armed
    double specialized;
    double specializable;
    double share; // of all threads
    double events_per_s;
    double deopts_per_s;
    double deopts; // since tracing started
};

void Tally_init(struct Tally *tally);
// `before` is the snapshot that `now` follows, NULL if it is the first.
void Tally_update(struct Tally *tally, const struct Snapshot *now,
                  const struct Snapshot *before);

#endif
