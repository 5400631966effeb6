// SPDX-License-Identifier: MIT
// Changes of specialisation during the trace: logs of the newest changes, and a
// count of every pair (from, to) since the start. A holder of the GIL writes,
// and the collector reads. A mutex guards all data. The governor only tries the
// mutex, so that it never waits while it holds the GIL. Functions' names are
// copied, because they outlive the functions.
#ifndef OCULAR_TRACER_CODE_TRANSITIONS_H
#define OCULAR_TRACER_CODE_TRANSITIONS_H

#include "ipc/snapshot.h"
#include "tracer/base/clock.h"
#include "tracer/base/opcode.h"

#include <pthread.h>

#define TRANSITIONS_KEPT 128   // newest changes that each log keeps
#define TRANSITIONS_PAIRS 2048 // more pairs than any CPython has
#define STORM_POLLS                                                            \
    4 // differing polls of a site, within STORM_MS, that together make a storm
#define STORM_MS 10000

// The function of a change. All changes that one scan has found share one
// label.
struct Label {
    unsigned refs; // number of log slots that use the label
    const char *file;
    char function[];
};

struct Change {
    uint64_t order;   // number among all changes; set by Transitions_add
    uint64_t ticks;   // when the change was seen
    double seen_at_s; // s since tracing began; set by Transitions_add
    uint32_t id;      // id of the function
    uint32_t line;    // line of the instruction; 0: none
    uint32_t offset;
    uint8_t from, to;            // opcodes
    bool storm;                  // the change is a part of a storm
    const char *function, *file; // borrowed by Transitions_add
    struct Label *label;         // set by Transitions_add
};

// The newest change is changes[(count - 1) % TRANSITIONS_KEPT].
struct ChangeLog {
    uint64_t count; // changes ever added
    struct Change changes[TRANSITIONS_KEPT];
};

struct PairCount {
    uint8_t from, to;
    uint64_t count; // 0: the slot is free
};

struct Transitions {
    pthread_mutex_t mutex;
    const struct Opcodes *opcodes;
    const struct Clock *clock;
    uint64_t start_ticks;
    uint64_t ms_ticks;   // ticks per millisecond; immutable
    uint64_t count;      // changes ever added
    struct Label *label; // newest change's label: borrowed from its log
    uint32_t label_id;   // id of the function of `label`
    size_t bytes;        // bytes of all labels
    // `first` has the changes from a base opcode, `turned` the changes from a
    // specialised opcode. So a big program that warms up does not push its
    // deoptimisations out of the log.
    struct ChangeLog first, turned;
    uint64_t other; // changes whose pair found no room in `pairs`
    struct PairCount pairs[TRANSITIONS_PAIRS];
};

void Transitions_init(struct Transitions *transitions,
                      const struct Opcodes *opcodes, const struct Clock *clock,
                      uint64_t start_ticks);
void Transitions_release(struct Transitions *transitions);
// Called around a batch of additions. Transitions_try returns false if another
// thread holds the mutex.
void Transitions_lock(struct Transitions *transitions);
bool Transitions_try(struct Transitions *transitions);
void Transitions_unlock(struct Transitions *transitions);
static inline uint32_t Transitions_ms(const struct Transitions *transitions,
                                      uint64_t ticks)
{
    return (uint32_t)((ticks - transitions->start_ticks) /
                      transitions->ms_ticks);
}

// Copies the change and its two texts. The mutex is held.
void Transitions_add(struct Transitions *transitions,
                     const struct Change *change);
// Writes the log, the newest change first, and the pairs, the most frequent
// first. Takes the mutex. Returns false if memory is out and something is
// missing.
bool Transitions_fill(struct Transitions *transitions,
                      struct Snapshot *snapshot);
// Copies the kept changes from number *from on without their texts, the newest
// of each log first. Sets *from to the number of the next change. Takes the
// mutex. Returns the number of copied changes.
size_t Transitions_since(struct Transitions *transitions, uint64_t *from,
                         struct Change changes[2 * TRANSITIONS_KEPT]);
// Returns the bytes of all texts, for memory accounts.
size_t Transitions_bytes(struct Transitions *transitions);

#endif
