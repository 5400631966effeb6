// SPDX-License-Identifier: MIT
// struct Roll lists all functions that may have a row in a snapshot. For each
// function, struct Roll stores the state from which its newest row was filled.
// In a snapshot, only the rows of functions are thus filled that had an event
// or a sample since the last snapshot. For a function without event or sample,
// only one cache line is read. The mutex Session.draining guards struct Roll.
#pragma once

#include "tracer/code/registry.h"
#include "tracer/session/row_log.h"

struct Moment;

struct RollEntry {
    // Code object of the function, or NULL if it has been freed.
    struct Code *code;
    // The function's newest row, or NULL if the function had no event and no
    // sample.
    struct SharedRow *row;
    // Time in ticks until which the function's row stays the same without an
    // event, or 0 if the row may change at once.
    uint64_t until;
    uint32_t stamp; // Value of Code_stamp when the function's row was filled.
    // Number of the function's sites with hooks (armed sites) when
    // Roll_count_armed last counted them.
    uint32_t armed : 30;
    uint32_t counted : 1; // 1 if `armed` is still correct.
    // 1 if the function had no event since the last snapshot.
    uint32_t quiet : 1;
};

struct Roll {
    struct RollEntry *entries;
    size_t count, room;
    // Indexes of the entries whose rows must be filled. The array `due` has
    // `room` elements.
    uint32_t *due;
    size_t due_count;
    // CLOCK_MONOTONIC in seconds. If a function had no calls for some time
    // before `rate_s`, its calls per second are counted from then on.
    double rate_s;
    bool begun;
    uint64_t armed; // Sum of RollEntry.armed over all entries.
    // CLOCK_MONOTONIC in seconds at the newest snapshot.
    double filled_s;
    bool all; // True if the rows of all functions must be filled.
    // `sampled`, `sees` and `waits` of struct Moment at the newest snapshot.
    bool sampled, sees, waits;
    // Value of ExceptionRows_state at the newest snapshot.
    uint8_t exceptions;
    uint64_t events; // Sum over all rows.
    uint64_t sites_armed, sites_dark;
    // Number of functions in each state (enum FunctionState).
    uint64_t states[3];
};

void Roll_release(struct Roll *roll);
// Adds the functions' rows to the snapshot.
void Roll_fill(struct Roll *roll, struct RowLog *log, struct Snapshot *snapshot,
               const struct Moment *at);
// Adds the registry's new code objects. Roll_add_new must be called before a
// new code object is freed. Returns false if there is no memory.
bool Roll_add_new(struct Roll *roll, struct Registry *registry);
// Returns the number of sites with hooks (armed sites) in all functions that
// were seen. If the newest snapshot is recent, the number is that of the
// snapshot, otherwise the sites are counted now. The caller passes
// CLOCK_MONOTONIC in seconds as `now_s`.
uint64_t Roll_count_armed(struct Roll *roll, struct Registry *registry,
                          double now_s);
// Removes a code object that is about to be freed. The next snapshot has no row
// for it.
void Roll_remove(struct Roll *roll, const struct Code *code);
