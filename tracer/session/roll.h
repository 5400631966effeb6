// SPDX-License-Identifier: MIT
// struct Roll lists all functions that may have a row. For each function it has
// the state from which its newest row was filled. So a snapshot fills only the
// rows of functions that had an event or a sample since the last snapshot. Of
// each other function it reads one cache line. Session.draining guards the
// roll.
#ifndef OCULAR_TRACER_SESSION_ROLL_H
#define OCULAR_TRACER_SESSION_ROLL_H

#include "tracer/code/registry.h"
#include "tracer/session/row_log.h"

struct Moment;

struct RollEntry {
    struct Code *code; // NULL if the code object has been freed.
    // NULL if no event and no sample of the function was seen.
    struct SharedRow *row;
    // Time in ticks until which the row stays the same without an event. 0
    // means that the row may change at once.
    uint64_t until;
    uint32_t stamp; // Value of Code_stamp when the row was filled.
    // Number of armed sites when Roll_count_armed last counted them.
    uint32_t armed : 30;
    uint32_t counted : 1; // 1 if `armed` is still correct.
    // 1 if the function had no event since the last snapshot.
    uint32_t quiet : 1;
};

struct Roll {
    struct RollEntry *entries;
    size_t count, room;
    // Indexes of the entries whose rows must be filled. The array has `room`
    // elements.
    uint32_t *due;
    size_t due_count;
    // CLOCK_MONOTONIC in seconds. If a function had no calls before this time,
    // its rate is counted from this time on.
    double rate_s;
    bool begun;
    uint64_t armed; // Sum of the member `armed` over all entries.
    // CLOCK_MONOTONIC in seconds at the newest snapshot.
    double filled_s;
    bool all; // True if all rows must be filled.
    // Values of these members of struct Moment at the newest snapshot.
    bool sampled, sees, waits;
    // Value of ExceptionRows_state at the newest snapshot.
    uint8_t exceptions;
    uint64_t events, bytes; // Sums over all rows.
    uint64_t sites_armed, sites_dark;
    uint64_t states[3]; // Number of functions in each enum FunctionState.
};

void Roll_release(struct Roll *roll);
// Adds the functions' rows to the snapshot. Returns false if there is no
// memory.
bool Roll_fill(struct Roll *roll, struct RowLog *log, struct Snapshot *snapshot,
               const struct Moment *at);
// Takes new code objects from the registry. Must be called before any of them
// is freed. Returns false if there is no memory.
bool Roll_add_new(struct Roll *roll, struct Registry *registry);
// Returns the number of armed sites of all functions that were seen. If the
// newest snapshot is recent, returns its number, otherwise counts the sites
// now. `now_s` is CLOCK_MONOTONIC in seconds.
uint64_t Roll_count_armed(struct Roll *roll, struct Registry *registry,
                          double now_s);
// Removes code that is about to be freed. The code has no row in the next
// snapshot.
void Roll_remove(struct Roll *roll, const struct Code *code);

#endif
