// SPDX-License-Identifier: MIT
// Counts exceptions by kind. A kind is a type of exceptions in one function. An
// exception begins in the function that raises it. An exception passes through
// a function that does not catch it. A thread that holds the GIL writes struct
// Exceptions. The thread that builds snapshots reads the atomic fields of
// struct Exceptions without a lock, and frees the labels.
//
// If there is a budget, counting an exception takes a token. A part of the
// budget fills the bucket of tokens. If the bucket is empty, no exception is
// counted until the bucket is full again (a gap). The time in which exceptions
// are counted is divided into windows. The number of a kind's exceptions in a
// gap is estimated from their number in the windows per CPU time of the
// process. The number of exceptions per wall-clock time would be too high on a
// busy machine, because a gap only ends while the program runs.
#pragma once

#include "tracer/base/counter.h"
#include "tracer/code/code.h"

#define EXCEPTION_KINDS 256     // Number of kinds that are kept.
#define EXCEPTION_CHAINS 512    // A power of two.
#define EXCEPTION_TYPE_SIZE 256 // Bytes of a type's name, with the NUL.
#define EXCEPTION_SETS 256      // A power of two.
#define EXCEPTION_SET_SIZE 4    // Number of entries that fill a cache line.
// Seconds that one call of the hook for exceptions takes if all caches are
// warm, with CPython's work.
#define EXCEPTION_S 80e-9

// An exception begins in a function or passes through a function.
enum ExceptionAct { EXCEPTION_RAISED, EXCEPTION_PASSED, EXCEPTION_ACTS };

// The names of a kind's function, file and type. A label never changes.
struct ExceptionLabel {
    struct ExceptionLabel *next; // Next label in the list of labels to free.
    uint64_t began;              // Ticks at which the kind was first seen.
    const char *function; // Function's name, or NULL if it is not traced.
    const char *file;
    uint32_t id; // Id of the function.
    uint32_t first_line;
    char type[];
};

struct ExceptionKind {
    // Points to a variable with the address of the type as long as the type
    // exists.
    const void *const *type;
    // Code of the function, NULL if the function is not traced, or
    // EXCEPTION_NO_CODE if the function was freed.
    struct Code *code;
    uint16_t next;  // Number of the next kind in the hash chain, or 0.
    uint16_t chain; // Number of the hash chain.
    // Line at which the first exception of this kind began, or 0.
    _Atomic uint32_t line;
    counter_t counts[EXCEPTION_ACTS];
    counter_t newest; // Ticks at the newest exception of this kind.
    // Names of the kind, or NULL if this entry of `kinds` is free.
    struct ExceptionLabel *_Atomic label;
    // Address of a type that is never freed. `type` may point to `lasting`.
    const void *lasting;
};

#define EXCEPTION_NO_CODE ((struct Code *)1)

// Estimates from windows how many exceptions of one kind the gaps had. A holder
// of the GIL writes struct ExceptionEstimate when a window ends. The fields of
// type counter_t hold the bits of doubles.
struct ExceptionEstimate {
    // ExceptionKind.counts at the beginning of the window.
    uint64_t opened[EXCEPTION_ACTS];
    // Sum of the exceptions in all windows, and sum of the squares of their
    // numbers. Older windows weigh less.
    double seen[EXCEPTION_ACTS], squares;
    counter_t rate[EXCEPTION_ACTS]; // Exceptions per ns of CPU time.
    // Estimated number of exceptions in all gaps so far.
    counter_t missed[EXCEPTION_ACTS];
    // Standard deviation of rate[EXCEPTION_RAISED], and variance of
    // missed[EXCEPTION_RAISED]. They are not 0 if the windows had no exception
    // of this kind, because a gap may have had one.
    counter_t rate_error, missed_variance;
    uint64_t gaps; // Exceptions.gaps in the newest window with this kind.
};

// An entry of a cache that leads from a type in a function to its kind. The
// cache is for types that Exceptions_find does not find, because no kind was
// free or because the kind belongs to another type of the same name.
struct ExceptionEntry {
    // The id of the function, and the version of the type in the low 32 bits,
    // or 0 if the entry is free. No other type ever gets the same version.
    uint64_t key;
    uint16_t number; // Number of the kind.
};

enum ExceptionPhase {
    EXCEPTIONS_UNKNOWN, // Exceptions are not counted.
    EXCEPTIONS_ON,      // All exceptions are counted.
    EXCEPTIONS_OFF      // No exception is counted: a gap.
};

struct Exceptions {
    // Number of calls of the hook. A slow call counts as several calls.
    counter_t events;
    uint64_t stop_events; // When `events` reaches this value, counting may end.
    // Number of exceptions that only steer the program's flow, such as
    // StopIteration.
    counter_t control;
    uint16_t chains[EXCEPTION_CHAINS];
    counter_t used; // Number of entries of `kinds` that were ever in use.
    // `version` is odd while kinds are added or replaced.
    counter_t version;
    // Labels that wait until the thread that builds snapshots frees them.
    struct ExceptionLabel *_Atomic old;
    // Before this time (ticks), no kind is replaced by a new kind.
    uint64_t next_search;
    struct ExceptionEntry cache[EXCEPTION_SETS][EXCEPTION_SET_SIZE];
    counter_t phase; // enum ExceptionPhase
    // ns of CPU time of the process at the beginning of the window or gap.
    counter_t cpu_ns;
    counter_t missed; // 1 if some exceptions were not counted.
    // Number of windows, and CPU time of all windows in ns. Older windows weigh
    // less.
    double windows, window_ns;
    // ns of CPU time of the gap before the open window, as the bits of a
    // double. 0 if there was no gap.
    counter_t pending;
    uint64_t opened; // `events` at the beginning of the window.
    uint64_t gaps;   // Sum of the ticks of all gaps that have ended.
    // Sum of the squares of the CPU times (ns) of the gaps before all windows,
    // as the bits of a double.
    counter_t gap_squares;
    // Number of events that may still be counted, at the time `filled` (ticks)
    // at which `events` was `paid`. INFINITY if there is no budget.
    double tokens;
    uint64_t filled, paid;
    double income;  // Tokens per second, INFINITY if there is no budget.
    uint64_t off;   // Ticks at which the gap began.
    double pause_s; // Length of the shortest gap in seconds.
    double hz;      // Ticks per second.
    // kinds[0] is the sum of all kinds that have no entry of their own.
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

// Returns the kind of an exception, or NULL if the hash table has no such kind.
// `code` is NULL if the function is not traced.
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

// Returns the kind that Exceptions_cache has stored for a type in a function,
// or NULL. `version` is the version of the type, or 0 if the type has no
// version.
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
        // After NULL the caller calls Exceptions_take, because `kinds` may have
        // a free entry now, or because the kind's function was freed.
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

// Counts one call of the hook in `events`. Returns true if the caller must call
// Exceptions_end, which decides whether counting goes on.
static inline bool Exceptions_note(struct Exceptions *exceptions)
{
    return Counter_add(&exceptions->events, 1) >= exceptions->stop_events;
}

// Adds SLOW_EVENTS to `events`, because it takes as long as that number of hook
// calls to make a kind.
void Exceptions_note_slow(struct Exceptions *exceptions);
// Forgets all kinds and counts, at the start of a session.
void Exceptions_reset(struct Exceptions *exceptions);
// Begins to count all exceptions, after Exceptions_reset. A gap is not shorter
// than `pause_s` seconds.
void Exceptions_begin(struct Exceptions *exceptions, uint64_t ticks,
                      uint64_t cpu_ns, double hz, double pause_s);
// Returns the kind for the function and all types with the name `type`. The
// caller then sets ExceptionKind.type and calls Exceptions_link. All types and
// functions of the same names share a kind, because a program may make types
// and code again and again. Returns NULL if all kinds are in use.
struct ExceptionKind *Exceptions_take(struct Exceptions *exceptions,
                                      struct Code *code, const char *type,
                                      uint64_t ticks);
void Exceptions_link(struct Exceptions *exceptions, struct ExceptionKind *kind);
// Stores the kind of a type in a function, for Exceptions_find_cached.
void Exceptions_cache(struct Exceptions *exceptions, const struct Code *code,
                      uint32_t version, const struct ExceptionKind *kind);
// Exceptions_forget_code is called before a code object is freed, and removes
// it from all kinds.
void Exceptions_forget_code(struct Exceptions *exceptions,
                            const struct Code *code);
// Begins a gap if the bucket is empty. `cpu_ns` is the CPU time of the process.
// Returns true if the caller must switch the event RAISE off.
bool Exceptions_end(struct Exceptions *exceptions, uint64_t ticks,
                    uint64_t cpu_ns);
// The governor calls Exceptions_look from time to time to fill the bucket, and
// to end windows and gaps. Returns true if the caller must switch the event
// RAISE on.
bool Exceptions_look(struct Exceptions *exceptions, uint64_t ticks,
                     uint64_t cpu_ns);
// Counts all exceptions from now on, because the event RAISE could not be
// switched off.
void Exceptions_go_on(struct Exceptions *exceptions, uint64_t ticks);
// Continues the gap that Exceptions_look has ended, because the event RAISE
// could not be switched on.
void Exceptions_stay_off(struct Exceptions *exceptions);
// Marks all numbers of exceptions as unknown, because another tool has taken
// Ocular's tool id.
void Exceptions_lose(struct Exceptions *exceptions);
// Sets the seconds per second that tracing may take, and the factor by which
// hooks are slower than with warm caches. Without a budget `rate` is INFINITY,
// and all exceptions are counted.
void Exceptions_limit(struct Exceptions *exceptions, uint64_t ticks,
                      double rate, double factor);
// Frees labels that no kind uses any more. A program that makes types or code
// again and again replaces many labels. Only the thread that builds snapshots
// calls Exceptions_free_old, while it holds Session.draining.
void Exceptions_free_old(struct Exceptions *exceptions);
