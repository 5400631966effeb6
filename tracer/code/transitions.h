// SPDX-License-Identifier: MIT
// Changes of specialisation while tracing: logs of the newest changes and a
// count of every pair (from, to) since the start. Written with the
// interpreter's lock held, read by the collector, guarded by a mutex. The
// governor only tries that, so that it never waits while it holds the
// interpreter. Functions' names are copied, since they outlive the functions.
#ifndef OCULAR_TRACER_CODE_TRANSITIONS_H
#define OCULAR_TRACER_CODE_TRANSITIONS_H

#include "ipc/snapshot.h"
#include "tracer/base/clock.h"
#include "tracer/base/opcode.h"

#include <pthread.h>

#define TRANSITIONS_KEPT 128   // the newest of each log
#define TRANSITIONS_PAIRS 2048 // more than any CPython has
#define STORM_POLLS                                                            \
    4 // differing polls of a site, within STORM_MS, make a storm
#define STORM_MS 10000

// The function of a change; one label for all changes that a scan has found.
struct Label {
    unsigned refs; // slots of the log
    const char *file;
    char function[];
};

struct Change {
    uint64_t order;   // of all changes; set by Transitions_add
    uint64_t ticks;   // when it was seen
    double seen_at_s; // the same, since tracing began; set by Transitions_add
    uint32_t id;      // of the function
    uint32_t line;    // of the instruction, 0 = none
    uint32_t offset;
    uint8_t from, to;            // opcodes
    bool storm;                  // the site has changed again and again
    const char *function, *file; // borrowed by Transitions_add
    struct Label *label;         // set by it
};

// The newest is changes[(count - 1) % TRANSITIONS_KEPT].
struct ChangeLog {
    uint64_t count; // ever added
    struct Change changes[TRANSITIONS_KEPT];
};

struct PairCount {
    uint8_t from, to;
    uint64_t count; // 0 = a free slot
};

struct Transitions {
    pthread_mutex_t mutex;
    const struct Opcodes *opcodes;
    const struct Clock *clock;
    uint64_t start_ticks;
    uint64_t ms_ticks;   // in a millisecond; immutable
    uint64_t count;      // ever added
    struct Label *label; // the newest change's, borrowed from its log
    uint32_t label_id;   // whose that is
    size_t bytes;        // of all labels
    // From a base opcode, and from one that was specialised already: a big
    // program that warms up does not push its deoptimisations out.
    struct ChangeLog first, turned;
    uint64_t other; // changes of pairs for which there was no room
    struct PairCount pairs[TRANSITIONS_PAIRS];
};

void Transitions_init(struct Transitions *transitions,
                      const struct Opcodes *opcodes, const struct Clock *clock,
                      uint64_t start_ticks);
void Transitions_release(struct Transitions *transitions);
// Around a batch of additions. Transitions_try: false if a reader is at it.
void Transitions_lock(struct Transitions *transitions);
bool Transitions_try(struct Transitions *transitions);
void Transitions_unlock(struct Transitions *transitions);
static inline uint32_t Transitions_ms(const struct Transitions *transitions,
                                      uint64_t ticks)
{
    return (uint32_t)((ticks - transitions->start_ticks) /
                      transitions->ms_ticks);
}

// Copies the change and its two texts. Mutex held.
void Transitions_add(struct Transitions *transitions,
                     const struct Change *change);
// It takes the mutex. The log, newest first, and the pairs, most frequent
// first. false: memory is out, and something is missing.
bool Transitions_fill(struct Transitions *transitions,
                      struct Snapshot *snapshot);
// It takes the mutex. Copies the kept changes from number *from on, without
// their texts, each log's newest first; then *from is the next one's. Their
// number.
size_t Transitions_since(struct Transitions *transitions, uint64_t *from,
                         struct Change changes[2 * TRANSITIONS_KEPT]);
// Held by the texts, for memory accounts.
size_t Transitions_bytes(struct Transitions *transitions);

#endif
