// SPDX-License-Identifier: MIT
// All functions that may have a row, each with the state from which its newest
// row was filled. So a snapshot fills only the rows of functions that had an
// event or a sample since the snapshot before, and reads one cache line of each
// other function. Session.draining guards the roll.
#ifndef OCULAR_TRACER_SESSION_ROLL_H
#define OCULAR_TRACER_SESSION_ROLL_H

#include "tracer/code/registry.h"
#include "tracer/session/row_log.h"

struct Moment;

struct RollEntry {
    struct Code *code;     // NULL: the code has been freed
    struct SharedRow *row; // NULL: the function was never seen
    // Tick count until which the row stays the same without an event; 0: the
    // row may change at once.
    uint64_t until;
    uint32_t stamp;       // Code_stamp when the row was filled
    uint32_t armed : 30;  // armed sites, as Roll_count_armed counted them
    uint32_t counted : 1; // `armed` is still correct
    uint32_t quiet : 1;   // there was no event since the snapshot before
};

struct Roll {
    struct RollEntry *entries;
    size_t count, room;
    uint32_t *due; // indexes of entries whose rows must be filled; has `room`
    size_t due_count;
    // Time by CLOCK_MONOTONIC. If a function had no calls until then, its rate
    // is counted from this time.
    double rate_s;
    bool begun;
    uint64_t armed;         // sum of the entries' `armed`
    double filled_s;        // CLOCK_MONOTONIC of the newest snapshot
    bool all;               // all rows must be filled
    bool sampled, sees;     // as in struct Moment, at the newest snapshot
    uint64_t events, bytes; // sums over all rows
    uint64_t sites_armed, sites_dark;
    uint64_t states[3]; // functions by enum FunctionState
};

void Roll_release(struct Roll *roll);
// Gives the snapshot its functions. Returns false if memory is out.
bool Roll_fill(struct Roll *roll, struct RowLog *log, struct Snapshot *snapshot,
               const struct Moment *at);
// Takes new code from the registry, and must be called before any of this code
// is freed. Returns false if memory is out.
bool Roll_add_new(struct Roll *roll, struct Registry *registry);
// Returns the number of armed sites of all functions that were seen: as of now,
// or as in the newest snapshot if that is recent. `now_s` is of
// CLOCK_MONOTONIC.
uint64_t Roll_count_armed(struct Roll *roll, struct Registry *registry,
                          double now_s);
// Removes code that is about to be freed: it has no row in the next snapshot.
void Roll_remove(struct Roll *roll, const struct Code *code);

#endif
