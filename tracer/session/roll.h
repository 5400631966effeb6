// SPDX-License-Identifier: MIT
// All functions that may have a row, and for each the input of its newest row:
// so that a snapshot fills the rows of those with an event or a sample since
// the one before, and of the others looks at one cache line. Under
// Session.draining.
#ifndef OCULAR_TRACER_SESSION_ROLL_H
#define OCULAR_TRACER_SESSION_ROLL_H

#include "tracer/code/registry.h"
#include "tracer/session/row_log.h"

struct Moment;

struct RollEntry {
    struct Code *code;     // NULL: it has been freed
    struct SharedRow *row; // NULL: nothing has been seen of it
    uint64_t until;        // ticks until which it would be the same without an
                           // event; 0: it may not
    uint32_t stamp;        // Code_stamp as its row was filled
    uint32_t armed : 30;   // sites, as counted by Roll_count_armed
    uint32_t counted : 1;  // so that it need not count them again
    uint32_t quiet : 1;    // there was no event since the snapshot before
};

struct Roll {
    struct RollEntry *entries;
    size_t count, room;
    uint32_t *due; // places of those whose rows are to be filled; `room` many
    size_t due_count;
    double rate_s; // CLOCK_MONOTONIC; from when on rates of what was settled
                   // are taken
    bool begun;
    uint64_t armed;         // the sum of theirs
    double filled_s;        // CLOCK_MONOTONIC, of the newest snapshot
    bool all;               // every row is to be filled
    bool sampled, sees;     // as in the moment of the newest snapshot
    uint64_t events, bytes; // sums over all rows
    uint64_t sites_armed, sites_dark;
    uint64_t states[3]; // functions, by enum FunctionState
};

void Roll_release(struct Roll *roll);
// Gives the snapshot its functions. false: memory is out.
bool Roll_fill(struct Roll *roll, struct RowLog *log, struct Snapshot *snapshot,
               const struct Moment *at);
// Takes the new code from the registry. Before any of it is freed. false:
// memory is out.
bool Roll_add_new(struct Roll *roll, struct Registry *registry);
// Sites that are armed, of all functions of which something was seen: now, or
// as the newest snapshot says. `now_s` is of CLOCK_MONOTONIC.
uint64_t Roll_count_armed(struct Roll *roll, struct Registry *registry,
                          double now_s);
// It is about to be freed: from the next snapshot on it has no row.
void Roll_remove(struct Roll *roll, const struct Code *code);

#endif
