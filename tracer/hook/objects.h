// SPDX-License-Identifier: MIT
// Counts the births and deaths of objects by their type, and births also by the
// function that creates the object. CPython reports each birth and each death,
// which is too much for most programs. So objects are counted in windows, for
// which the budget pays. A window has a length that is fixed before it begins,
// because a length that depended on the events would make the rates wrong.
//
// The number of objects that a type has more at the end of a window than at its
// beginning shows a leak. In a program without a leak this number goes up and
// down with the objects that happen to live at the two moments. This noise does
// not grow with the length of the window, but a leak does. So a window is as
// long as the budget allows.
//
// A thread that holds the GIL writes struct Objects.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_NAMES 1024 // Names of types. Number 0 stands for all others.
#define OBJECT_TYPES 2048 // Types with an address. Number 0 has none.
#define OBJECT_PAIRS 4096 // Pairs of a type and a function. Number 0 is unused.
#define OBJECT_SLOTS 8192 // Entries of each hash table, a power of two.
#define OBJECT_NAME 80    // Bytes of a type's name, with the NUL.
// Number of events after which the tracer reads the clock in a window with many
// events.
#define OBJECT_CHECK 32

// Objects of reference cycles die in collections, thousands at a time, and
// windows would miss most collections. So births and deaths in collections are
// counted at all times.
//
// A number is found again by the address of a type or code object. An address
// is used again after its owner dies. So the name or the id is compared again
// in each new epoch. An epoch ends with each window, and with each death of a
// type or of a code object.
struct ObjectType {
    const void *type;    // Address of the type, or NULL if the entry is stale.
    uint32_t epoch;      // Epoch in which the name was compared.
    uint32_t born, died; // Objects in this window. `born` lacks the pairs'.
    uint32_t gc_born, gc_died; // Objects in collections since the last fold.
    uint16_t of; // Number of the type's name. Types can share a name.
    bool names;  // Its objects are types or code objects.
};

struct ObjectPair {
    const void *type, *code; // Addresses. `type` is NULL if the pair is stale.
    uint32_t epoch;
    uint32_t born; // Objects in this window.
    uint32_t id;   // Id of the function, or 0 if it is not traced.
    uint16_t of;   // Number of the type's name.
};

// Sums over the windows so far for all types of one name. Older windows weigh
// less.
struct ObjectSums {
    char name[OBJECT_NAME];
    uint32_t window_born, window_died; // Only in the newest window.
    uint32_t window_gc_born, window_gc_died;
    // Births and deaths, and births squared per second.
    double born, died, born_squares;
    double gc_born, gc_died; // In collections.
    // The next sums have a longer memory. `net` is the number of births without
    // the deaths, net_s is its product with the window's seconds. grew and
    // shrank are numbers of windows.
    double net, net_squares, net_s, grew, shrank;
    double gc_net, gc_squares; // Growth in collections, and its squares.
    uint64_t counted_born, counted_died; // Of all windows, without any decay.
};

// Sums over time. Older times weigh less.
struct ObjectsTotals {
    // The number of windows, their seconds of wall-clock time and its squares,
    // their seconds of CPU time, and the births and deaths in all windows.
    double windows, window_s, squares, window_cpu_s, events;
    double late;          // Windows with Objects.late.
    double open_s;        // Seconds of windows, with the time that events took.
    double gc_events;     // Births and deaths in collections.
    double cpu_s, wall_s; // All time, also between windows.
};

struct ObjectsTime {
    uint64_t ticks, cpu_ns; // cpu_ns is the CPU time of the process.
};

enum ObjectsPhase {
    OBJECTS_CLOSED, // No window is open.
    OBJECTS_OPEN,   // Births and deaths are counted.
    OBJECTS_ENDED   // The tracer has ended the window.
};

struct Objects {
    uint32_t epoch;
    // Events until the tracer reads the clock again, and their first number.
    uint32_t left, check;
    enum ObjectsPhase phase;
    bool collecting; // A collection runs whose births and deaths are counted.
    uint64_t stop_ticks; // Ticks at which the window ends.
    double events_left;  // Events until the window is too expensive.
    struct ObjectsTime opened, ended; // The beginning and end of the window.
    double planned_s;                 // Seconds that the window should last.
    // The wait for the GIL before the window was long. The caller of
    // Objects_open sets it.
    bool late;
    uint32_t opened_epoch; // Value of `epoch` at the beginning of the window.
    uint32_t slow;         // Events of the window that took long.
    uint16_t names, types, pairs; // Used entries of the arrays below.
    bool stale;                   // An address has a new owner.
    bool counts_deaths;           // CPython reports all deaths.
    double scale;   // Factor for the objects of a window that ended early.
    double hz;      // Ticks per second.
    double event_s; // Seconds that one event takes.
    struct ObjectsTotals now, longer; // `longer` has a longer memory.
    struct ObjectsTime folded; // Time of the newest call of Objects_fold.
    uint16_t type_slots[OBJECT_SLOTS], pair_slots[OBJECT_SLOTS];
    struct ObjectType type[OBJECT_TYPES];
    struct ObjectPair pair[OBJECT_PAIRS];
    struct ObjectSums sums[OBJECT_NAMES];
    double pair_born[OBJECT_PAIRS]; // As ObjectSums.born.
};

static inline uint32_t Objects_slot(const void *type, const void *code)
{
    uint64_t mixed = ((uintptr_t)type >> 4) * 0x9e3779b97f4a7c15u ^
                     ((uintptr_t)code >> 4) * 0xc2b2ae3d27d4eb4fu;

    return mixed >> 40 & (OBJECT_SLOTS - 1);
}

// Returns the number of a type, or 0 if the caller must call Objects_meet_type.
static inline uint32_t Objects_find_type(const struct Objects *objects,
                                         const void *type)
{
    uint32_t slot = Objects_slot(type, NULL), number;

    while ((number = objects->type_slots[slot])) {
        const struct ObjectType *found = &objects->type[number];

        if (found->type == type)
            return found->epoch == objects->epoch ? number : 0;
        slot = (slot + 1) & (OBJECT_SLOTS - 1);
    }
    return 0;
}

// Counts a birth. Returns false if the caller must call Objects_meet_pair and
// count the birth with its result.
static inline bool Objects_born(struct Objects *objects, const void *type,
                                const void *code)
{
    uint32_t slot = Objects_slot(type, code), number;

    while ((number = objects->pair_slots[slot])) {
        struct ObjectPair *pair = &objects->pair[number];

        if (pair->type == type && pair->code == code) {
            if (pair->epoch != objects->epoch)
                return false;
            pair->born++;
            return true;
        }
        slot = (slot + 1) & (OBJECT_SLOTS - 1);
    }
    return false;
}

// Counts a birth or a death in a collection.
static inline void Objects_collect(struct Objects *objects, uint32_t type,
                                   bool born)
{
    objects->type[type].gc_born += born;
    objects->type[type].gc_died += !born;
    objects->epoch += !born && objects->type[type].names;
}

static inline void Objects_died(struct Objects *objects, uint32_t type)
{
    objects->type[type].died++;
    // The address of a dead type or code object may get a new owner.
    objects->epoch += objects->type[type].names;
}

// Returns true if the caller must compare the clock with stop_ticks.
static inline bool Objects_must_check(struct Objects *objects)
{
    if (--objects->left)
        return false;
    objects->left = objects->check;
    return true;
}

// The caller then sets event_s.
void Objects_init(struct Objects *objects, double hz, bool counts_deaths);
// Returns the number of the type at the address `type`, or 0 if there is no
// room. The name of a known type may lack its module. `names` is true if its
// objects are types or code objects. Allocates nothing.
uint32_t Objects_meet_type(struct Objects *objects, const void *type,
                           const char *name, bool names);
// Counts the birth of an object of the type with the number `number`. The code
// at the address `code` has the id `id`. Allocates nothing.
void Objects_meet_pair(struct Objects *objects, uint32_t number,
                       const void *code, uint32_t id);
// Returns true if collections can be counted for `rate` seconds per second.
bool Objects_may_collect(const struct Objects *objects, double rate);
// Begins a window that is planned to last `s` seconds. The tracer ends it after
// `events` events, or after `s` seconds if `ends` is true. The caller holds the
// GIL.
void Objects_open(struct Objects *objects, const struct ObjectsTime *at,
                  double s, double events, bool ends);
// Returns true if the window must end now. The tracer calls this function if
// Objects_must_check returns true.
bool Objects_is_over(struct Objects *objects, uint64_t ticks);
// Ends the window. The caller holds the GIL.
void Objects_end(struct Objects *objects, const struct ObjectsTime *at);
// Adds the window to the sums if it has ended, and the time since the last call
// if there was a window. A window that has not ended is dropped. Returns the
// seconds of CPU time that the events of the window took. The caller holds the
// GIL.
double Objects_fold(struct Objects *objects, const struct ObjectsTime *at);
// Returns the seconds that the next window should last if there are `period_s`
// seconds from one window to the next, and if events may take `rate` seconds
// per second. Half of the windows should be longer than the other half, at
// random. Returns at least period_s if all objects can be counted.
double Objects_plan(const struct Objects *objects, double rate, double period_s,
                    bool longer);

// The numbers of a type in objects per second of wall-clock time.
struct ObjectRates {
    double born, died, net;
    double born_error, net_error; // Standard deviations.
    bool grows;                   // True if the type only grows.
};

struct ObjectRates Objects_rates(const struct Objects *objects,
                                 const struct ObjectSums *sums);
// Returns the births per second of pairs whose pair_born has the sum `born`.
double Objects_pair_rate(const struct Objects *objects, double born);
// Returns the part of the time that was in windows.
double Objects_part(const struct Objects *objects);
