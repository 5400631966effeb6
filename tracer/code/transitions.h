// SPDX-License-Identifier: MIT
// Keeps changes of specialisation during the trace. There are logs of the
// newest changes, and a count of every pair (from, to) since the start. A
// holder of the GIL writes the data, and the collector reads the data. A mutex
// guards all data. The governor only tries to take the mutex, because the
// governor must not wait while it holds the GIL. Functions' names are copied,
// because a log may keep a name longer than the function exists.
#ifndef OCULAR_TRACER_CODE_TRANSITIONS_H
#define OCULAR_TRACER_CODE_TRANSITIONS_H

#include "ipc/snapshot.h"
#include "tracer/base/clock.h"
#include "tracer/base/opcode.h"

#include <pthread.h>

#define TRANSITIONS_KEPT 128   // each log keeps this number of newest changes
#define TRANSITIONS_PAIRS 2048 // more pairs than any CPython version has
// if this number of polls within STORM_MS find a site changed, there is a storm
#define STORM_POLLS 4
#define STORM_MS 10000

// The name and file of the function of a change. All changes that one scan has
// found share one label.
struct Label {
    unsigned refs; // number of log slots that use the label
    const char *file;
    char function[];
};

struct Change {
    // Number of the change among all changes; set by Transitions_add.
    uint64_t order;
    uint64_t ticks;   // time at which the change was seen
    double seen_at_s; // seconds since tracing began; set by Transitions_add
    uint32_t id;      // id of the function
    uint32_t line;    // line of the instruction, or 0
    uint32_t offset;
    uint8_t from, to;            // opcodes before and after the change
    bool storm;                  // true if the change is a part of a storm
    const char *function, *file; // borrowed for the call of Transitions_add
    struct Label *label;         // set by Transitions_add
};

// The newest change is changes[(count - 1) % TRANSITIONS_KEPT].
struct ChangeLog {
    uint64_t count; // number of all changes that were ever added
    struct Change changes[TRANSITIONS_KEPT];
};

struct PairCount {
    uint8_t from, to;
    uint64_t count; // 0 if the slot is free
};

struct Transitions {
    pthread_mutex_t mutex;
    const struct Opcodes *opcodes;
    const struct Clock *clock;
    uint64_t start_ticks;
    uint64_t ms_ticks;   // ticks per millisecond; immutable
    uint64_t count;      // number of all changes that were ever added
    struct Label *label; // label of the newest change, borrowed from its log
    uint32_t label_id;   // id of the function of `label`
    size_t bytes;        // bytes of all labels
    // `first` has the changes from a base opcode, and `turned` has the changes
    // from a specialised opcode. Many changes from base opcodes, as at the
    // start of a big program, therefore do not push deoptimisations out of the
    // log.
    struct ChangeLog first, turned;
    uint64_t other; // number of changes whose pair found no room in `pairs`
    struct PairCount pairs[TRANSITIONS_PAIRS];
};

void Transitions_init(struct Transitions *transitions,
                      const struct Opcodes *opcodes, const struct Clock *clock,
                      uint64_t start_ticks);
void Transitions_release(struct Transitions *transitions);
// A caller holds this mutex while it adds several changes. Transitions_try
// returns false if another thread holds the mutex.
void Transitions_lock(struct Transitions *transitions);
bool Transitions_try(struct Transitions *transitions);
void Transitions_unlock(struct Transitions *transitions);
static inline uint32_t Transitions_ms(const struct Transitions *transitions,
                                      uint64_t ticks)
{
    return (uint32_t)((ticks - transitions->start_ticks) /
                      transitions->ms_ticks);
}

// Adds a copy of the change and of its two texts. The caller holds the mutex.
void Transitions_add(struct Transitions *transitions,
                     const struct Change *change);
// Writes the log, with the newest change first, and the pairs, with the most
// frequent pair first. The function takes the mutex. Returns false if memory is
// out and something is missing.
bool Transitions_fill(struct Transitions *transitions,
                      struct Snapshot *snapshot);
// Copies the kept changes whose number is *from or higher, without the changes'
// texts. The newest change of each log comes first. Sets *from to the number of
// the next change. The function takes the mutex. Returns the number of copied
// changes.
size_t Transitions_since(struct Transitions *transitions, uint64_t *from,
                         struct Change changes[2 * TRANSITIONS_KEPT]);
// Returns the number of bytes of all texts, for the account of memory.
size_t Transitions_bytes(struct Transitions *transitions);

#endif
