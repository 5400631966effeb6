// SPDX-License-Identifier: MIT
// Counts exceptions by kind. A kind is a type of exceptions in one function. An
// exception begins in the function that raises it, and passes through a
// function that one of its callees has raised it into. A holder of the GIL
// calls the functions that write. The thread that builds snapshots reads
// without a lock: all that it reads is atomic, and it frees the labels.
//
// If exceptions are too many to be counted within the budget, they are counted
// only in windows of a fixed length. A kind's exceptions between two windows
// are estimated by its rate in the windows. The rate is per CPU time of the
// process: a window can only begin while the program runs, so on a busy machine
// more exceptions fall into it than into other times.
#ifndef OCULAR_TRACER_HOOK_EXCEPTIONS_H
#define OCULAR_TRACER_HOOK_EXCEPTIONS_H

#include "tracer/base/counter.h"
#include "tracer/code/code.h"

#define EXCEPTION_KINDS 256     // Number of kinds that are kept.
#define EXCEPTION_CHAINS 512    // A power of two.
#define EXCEPTION_TYPE_SIZE 256 // Bytes of a type's name, with the NUL.
#define EXCEPTION_SETS 256      // A power of two.
#define EXCEPTION_SET_SIZE 4    // Number of entries that fill a cache line.
// seconds of one call of the hook, with CPython's part
#define EXCEPTION_S 80e-9

// An exception begins in a function or passes through a function.
enum ExceptionAct { EXCEPTION_RAISED, EXCEPTION_PASSED, EXCEPTION_ACTS };

// The texts of a kind. A label never changes.
struct ExceptionLabel {
    struct ExceptionLabel *next; // next label that waits to be freed
    uint64_t began;              // ticks at which the kind was first seen
    const char *function;        // NULL: the function is not traced
    const char *file;
    uint32_t id; // of the function
    uint32_t first_line;
    char type[];
};

struct ExceptionKind {
    // The place that has the address of the type as long as the type lives.
    const void *const *type;
    // NULL: the function is not traced. EXCEPTION_NO_CODE: it has been freed.
    struct Code *code;
    uint16_t next;         // number of the next kind in the chain, or 0
    uint16_t chain;        // number of the chain
    _Atomic uint32_t line; // where the first exception began, or 0
    counter_t counts[EXCEPTION_ACTS];
    counter_t newest; // ticks of the newest exception
    // NULL: the kind is free.
    struct ExceptionLabel *_Atomic label;
    const void *lasting; // `type` may point here if the type lives for ever
};

#define EXCEPTION_NO_CODE ((struct Code *)1)

// The results of the windows for one kind. A holder of the GIL writes the
// fields when a window ends. Counters hold the bits of doubles.
struct ExceptionEstimate {
    uint64_t opened[EXCEPTION_ACTS]; // counts at the beginning of the window
    // Sums over the windows, of which the older ones weigh less.
    double seen[EXCEPTION_ACTS], squares;
    counter_t rate[EXCEPTION_ACTS];   // per ns of CPU time
    counter_t missed[EXCEPTION_ACTS]; // estimated up to the newest window
    counter_t error; // standard deviation of the raised rate, relative to it
};

// The kind of a type in a function, for types that Exceptions_find does not
// find: there was no room for another kind, or another type of the same name
// has the kind.
struct ExceptionEntry {
    // The id of the function, and the version of the type in the low 32 bits. A
    // version is never 0 and never given to another type. 0: no entry.
    uint64_t key;
    uint16_t number; // of the kind
};

enum ExceptionPhase {
    EXCEPTIONS_UNKNOWN, // not counted
    EXCEPTIONS_ALL,     // all are counted
    EXCEPTIONS_WINDOW,  // all are counted until the end of the window
    EXCEPTIONS_OFF      // none is counted until the next window
};

struct Exceptions {
    // Calls of the hook. A slow call counts as several calls.
    counter_t events;
    uint64_t stop_events; // number of events at which counting may end
    uint64_t stop_ticks;  // time at which the window ends
    // Exceptions that are control flow, such as StopIteration, and began.
    counter_t control;
    uint16_t chains[EXCEPTION_CHAINS];
    counter_t used; // number of the kinds that were ever in use
    // This number is odd while kinds are changed in another way than by
    // counting.
    counter_t version;
    // Labels that the thread that builds snapshots frees.
    struct ExceptionLabel *_Atomic old;
    uint64_t next_search; // ticks at which an old kind may be searched again
    struct ExceptionEntry cache[EXCEPTION_SETS][EXCEPTION_SET_SIZE];
    // Bytes of all labels that were ever made, and of those that were freed.
    counter_t label_bytes, freed_bytes;
    counter_t phase; // enum ExceptionPhase
    counter_t since; // ticks at the beginning of the phase
    // ns of CPU time of the process at the beginning of the phase
    counter_t cpu_ns;
    counter_t missed; // 1 if exceptions were not counted at any time
    bool limited;     // true if there is a budget
    // 1 if what was not counted can be estimated
    counter_t estimated;
    // Number of windows, and their CPU time in ns. Older ones weigh less.
    double windows, window_ns;
    // ns of CPU time without counting before the open window
    counter_t pending; // the bits of a double
    double pause_s;    // time from a window to the next one
    // `events` at the beginning of the window or second
    uint64_t opened;
    double hz; // ticks per second
    // The first kind is the sum of all kinds that are not kept.
    struct ExceptionKind kinds[EXCEPTION_KINDS];
    struct ExceptionEstimate estimates[EXCEPTION_KINDS];
};

static inline uint16_t Exceptions_chain(const struct Code *code,
                                        const void *type)
{
    uint64_t mixed = ((uintptr_t)code >> 6) * 0x9e3779b97f4a7c15u ^
                     ((uintptr_t)type >> 4) * 0xc2b2ae3d27d4eb4fu;

    return mixed >> 32 & (EXCEPTION_CHAINS - 1);
}

// Returns the kind of an exception, or NULL. `code` is NULL if the function is
// not traced.
static inline struct ExceptionKind *
Exceptions_find(struct Exceptions *exceptions, const struct Code *code,
                const void *type)
{
    uint32_t number = exceptions->chains[Exceptions_chain(code, type)];
    struct ExceptionKind *kind = &exceptions->kinds[number];

    for (; number; number = kind->next, kind = &exceptions->kinds[number])
        if (kind->code == code && *kind->type == type)
            return kind;
    return NULL;
}

static inline uint64_t Exceptions_key(const struct Code *code, uint32_t version)
{
    return (uint64_t)(code ? code->hot.id : 0) << 32 | version;
}

static inline struct ExceptionEntry *
Exceptions_set_of(struct Exceptions *exceptions, uint64_t key)
{
    return exceptions
        ->cache[key * 0x9e3779b97f4a7c15u >> 32 & (EXCEPTION_SETS - 1)];
}

// Returns the kind that Exceptions_cache has noted, or NULL. `version` is 0 if
// the type has none.
static inline struct ExceptionKind *
Exceptions_find_cached(struct Exceptions *exceptions, const struct Code *code,
                       uint32_t version, uint64_t ticks)
{
    uint64_t key = Exceptions_key(code, version);
    const struct ExceptionEntry *set = Exceptions_set_of(exceptions, key);
    struct ExceptionKind *kind;

    for (int i = 0; version && i < EXCEPTION_SET_SIZE; i++) {
        if (set[i].key != key)
            continue;
        kind = &exceptions->kinds[set[i].number];
        // There may be room now, or the kind may need a function again.
        if (set[i].number ? kind->code == EXCEPTION_NO_CODE
                          : ticks >= exceptions->next_search)
            return NULL;
        return kind;
    }
    return NULL;
}

static inline void Exceptions_count(struct ExceptionKind *kind,
                                    enum ExceptionAct act, uint64_t ticks)
{
    Counter_add(&kind->counts[act], 1);
    Counter_set(&kind->newest, ticks);
}

// Counts the event itself. Returns true if Exceptions_end must decide whether
// counting goes on.
static inline bool Exceptions_note(struct Exceptions *exceptions,
                                   uint64_t ticks)
{
    return Counter_add(&exceptions->events, 1) >= exceptions->stop_events ||
           ticks >= exceptions->stop_ticks;
}

// Counts the time that a new kind takes as events.
void Exceptions_note_slow(struct Exceptions *exceptions);
// Forgets everything, at the start of a session.
void Exceptions_reset(struct Exceptions *exceptions);
// Begins to count all exceptions.
void Exceptions_begin(struct Exceptions *exceptions, uint64_t ticks, double hz);
// Returns a kind for a type of this name in the function. The caller then sets
// `type`, whose old value is unchanged, and calls Exceptions_link. Types and
// functions of the same name have one kind, because a program may make types
// and code again and again. Returns NULL if there is no room.
struct ExceptionKind *Exceptions_take(struct Exceptions *exceptions,
                                      struct Code *code, const char *type,
                                      uint64_t ticks);
void Exceptions_link(struct Exceptions *exceptions, struct ExceptionKind *kind);
// Notes which kind a type has in a function, for Exceptions_find_cached.
void Exceptions_cache(struct Exceptions *exceptions, const struct Code *code,
                      uint32_t version, const struct ExceptionKind *kind);
// Must be called before a code object is freed.
void Exceptions_forget_code(struct Exceptions *exceptions,
                            const struct Code *code);
// Ends a window, or notes that exceptions are too many. `cpu_ns` is the CPU
// time of the process. Returns true if the event must be switched off.
bool Exceptions_end(struct Exceptions *exceptions, uint64_t ticks,
                    uint64_t cpu_ns);
// Is called from time to time. Returns true if the event must be switched on or
// off, so that *on is true or false.
bool Exceptions_look(struct Exceptions *exceptions, uint64_t ticks,
                     uint64_t cpu_ns, bool *on);
// Is called if the event could not be switched off. Counts all exceptions.
void Exceptions_go_on(struct Exceptions *exceptions, uint64_t ticks);
// Is called if the event is no longer ours. The numbers are then unknown.
void Exceptions_lose(struct Exceptions *exceptions);
// Sets whether there is a budget. Without a budget all exceptions are counted.
void Exceptions_limit(struct Exceptions *exceptions, bool limited);
// Returns the bytes of memory of all labels. Only the thread that frees labels
// calls this function.
uint64_t Exceptions_bytes(const struct Exceptions *exceptions);
// Frees labels that no kind has any more. A program that makes types or code
// again and again replaces many labels. Only the thread that builds snapshots
// calls this function, with Session.draining held.
void Exceptions_free_old(struct Exceptions *exceptions);

#endif
