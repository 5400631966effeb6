// SPDX-License-Identifier: MIT
// Lists all functions that may have a row. For each function the list has the
// state from which its newest row was filled. So a snapshot fills only the rows
// of functions that had an event or a sample since the last snapshot. Of each
// other function it reads one cache line. Session.draining guards the roll.
#ifndef OCULAR_TRACER_SESSION_ROLL_H
#define OCULAR_TRACER_SESSION_ROLL_H

#include "tracer/code/registry.h"
#include "tracer/session/row_log.h"

struct Moment;

struct RollEntry {
    struct Code *code;     // NULL if the code has been freed
    struct SharedRow *row; // NULL if the function was never seen
    // Time in ticks until which the row stays the same without an event. 0
    // means that the row may change at once.
    uint64_t until;
    uint32_t stamp; // value of Code_stamp when the row was filled
    // number of armed sites, as Roll_count_armed counted them
    uint32_t armed : 30;
    uint32_t counted : 1; // 1 if `armed` is still correct
    uint32_t quiet : 1;   // 1 if there was no event since the last snapshot
};

struct Roll {
    struct RollEntry *entries;
    size_t count, room;
    // Indexes of entries whose rows must be filled; the array has `room`
    // entries.
    uint32_t *due;
    size_t due_count;
    // Time in seconds of CLOCK_MONOTONIC. If a function had no calls before
    // this time, its rate is counted from this time.
    double rate_s;
    bool begun;
    uint64_t armed; // sum of the field `armed` over all entries
    // time of the newest snapshot in seconds of CLOCK_MONOTONIC
    double filled_s;
    bool all; // true if all rows must be filled
    // values of struct Moment at the newest snapshot
    bool sampled, sees, waits;
    // value of ExceptionRows_state at the newest snapshot
    uint8_t exceptions;
    uint64_t events, bytes; // sums over all rows
    uint64_t sites_armed, sites_dark;
    uint64_t states[3]; // number of functions in each enum FunctionState
};

void Roll_release(struct Roll *roll);
// Adds the functions to the snapshot. Returns false if memory is out.
bool Roll_fill(struct Roll *roll, struct RowLog *log, struct Snapshot *snapshot,
               const struct Moment *at);
// Takes new code from the registry. The function must be called before any of
// this code is freed. Returns false if memory is out.
bool Roll_add_new(struct Roll *roll, struct Registry *registry);
// Returns the number of armed sites of all functions that were seen. If the
// newest snapshot is recent, returns the number in this snapshot, otherwise
// counts the sites now. `now_s` is the time of CLOCK_MONOTONIC.
uint64_t Roll_count_armed(struct Roll *roll, struct Registry *registry,
                          double now_s);
// Removes code that is about to be freed. The code has no row in the next
// snapshot.
void Roll_remove(struct Roll *roll, const struct Code *code);

#endif
