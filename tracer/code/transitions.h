// SPDX-License-Identifier: MIT
// Keeps the changes of instructions' specialisation that scans have found.
// There are two logs of the newest changes, and a count for every pair of
// opcodes (from, to) since the start. A holder of the GIL writes struct
// Transitions, and the collector's thread reads it. A mutex guards all data of
// struct Transitions. The governor only tries to take the mutex, because the
// governor must not wait while it holds the GIL. Functions' names are copied,
// because a log can outlive the function.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/base/clock.h"
#include "tracer/base/opcode.h"

#include <pthread.h>

#define TRANSITIONS_KEPT 128 // Number of newest changes that each log keeps.
// More than the number of pairs of opcodes that change into each other in any
// CPython version.
#define TRANSITIONS_PAIRS 2048
// A storm is an instruction that this number of scans within STORM_MS found
// changed.
#define STORM_POLLS 4
#define STORM_MS 10000

// The name and the file of the function in which a change was found. All
// changes that one scan finds in a function share one label.
struct Label {
    unsigned refs; // Number of log entries that use the label.
    const char *file;
    char function[];
};

struct Change {
    // Number of the change, counted over both logs and set by Transitions_add.
    uint64_t order;
    uint64_t ticks; // Ticks at which the scan saw the change.
    // Seconds from the beginning of tracing, set by Transitions_add.
    double seen_at_s;
    uint32_t id;   // Id of the function in which the change was seen.
    uint32_t line; // Number of the instruction's source line, or 0.
    uint32_t offset;
    uint8_t from, to; // Opcodes before and after the change.
    bool storm;       // True if the change belongs to a storm.
    // Valid only during the call of Transitions_add.
    const char *function, *file;
    struct Label *label; // Transitions_add sets it.
};

// The newest change is changes[(count - 1) % TRANSITIONS_KEPT].
struct ChangeLog {
    uint64_t count; // Number of all changes ever added to this log.
    struct Change changes[TRANSITIONS_KEPT];
};

struct PairCount {
    uint8_t from, to;
    // Number of changes from `from` to `to`, or 0 if the slot is free.
    uint64_t count;
};

struct Transitions {
    pthread_mutex_t mutex;
    const struct Opcodes *opcodes;
    const struct Clock *clock;
    uint64_t start_ticks;
    uint64_t ms_ticks; // Ticks per millisecond, immutable.
    uint64_t count;    // Number of all changes ever added.
    // Label of the newest change. The change's log owns the label.
    struct Label *label;
    uint32_t label_id; // Id of the function to which `label` belongs.
    // `first` has the changes from a base opcode, and `turned` has the changes
    // from a specialised opcode. Many changes from base opcodes, as at the
    // start of a big program, thus do not push deoptimisations out of the logs.
    struct ChangeLog first, turned;
    // Number of changes that were not counted by pair, because `pairs` had no
    // free slot.
    uint64_t other;
    struct PairCount pairs[TRANSITIONS_PAIRS];
};

void Transitions_init(struct Transitions *transitions,
                      const struct Opcodes *opcodes, const struct Clock *clock,
                      uint64_t start_ticks);
void Transitions_release(struct Transitions *transitions);
// A caller holds the mutex of the log while it adds several changes.
// Transitions_try returns false if another thread holds the mutex.
void Transitions_lock(struct Transitions *transitions);
bool Transitions_try(struct Transitions *transitions);
void Transitions_unlock(struct Transitions *transitions);
static inline uint32_t Transitions_ms(const struct Transitions *transitions,
                                      uint64_t ticks)
{
    return (uint32_t)((ticks - transitions->start_ticks) /
                      transitions->ms_ticks);
}

// Adds a copy of the change, its function's name and its file to a log. The
// caller of Transitions_add holds the mutex.
void Transitions_add(struct Transitions *transitions,
                     const struct Change *change);
// Writes the logs, with the newest change first, and the pairs, with the most
// frequent pair first. Transitions_fill takes the mutex.
void Transitions_fill(struct Transitions *transitions,
                      struct Snapshot *snapshot);
// Copies the changes in the logs whose number is *from or higher, without the
// changes' texts. The newest change of each log comes first. Sets *from to the
// number that the next change will have. Transitions_since takes the mutex.
// Returns the number of copied changes.
size_t Transitions_since(struct Transitions *transitions, uint64_t *from,
                         struct Change changes[2 * TRANSITIONS_KEPT]);
