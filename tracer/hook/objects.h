// SPDX-License-Identifier: MIT
// Counts the births and deaths of objects by their type, and births also by the
// function that creates the object. CPython reports each birth and each death,
// which is too much for most programs. Objects are therefore counted in
// windows, as often as the budget allows. The length of a window is fixed
// before it begins. Rates would be wrong if the length depended on the events.
//
// Births minus deaths in a window show whether a type leaks objects. In a
// program without a leak, this number depends on which objects happen to live
// at the beginning and at the end of the window. This noise does not grow with
// the length of the window, but the number of leaked objects does. Windows are
// therefore as long as the budget allows.
//
// A thread that holds the GIL writes struct Objects.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Names of types. Number 0 is for all types without a number.
#define OBJECT_NAMES 1024
#define OBJECT_TYPES 2048 // Types with an address. Number 0 has none.
#define OBJECT_PAIRS 4096 // Pairs of a type and a function. Number 0 is unused.
#define OBJECT_SLOTS 8192 // Entries of each hash table, a power of two.
#define OBJECT_NAME 80    // Bytes of a type's name, with the NUL.
// In a window with many events, the tracer reads the clock after this number of
// events.
#define OBJECT_CHECK 32

// Objects in reference cycles are freed by garbage collections, thousands at a
// time. Windows would miss most collections. Births and deaths in garbage
// collections are therefore counted at all times.
//
// The address of a type or of a code object leads to its number in these
// tables. After the object is freed, its address can get a new owner. In each
// new epoch, the type's name or the function's id is therefore compared again.
// An epoch ends with each window, and with each death of a type or of a code
// object.
struct ObjectType {
    const void *type; // Address, or NULL if the entry is stale.
    uint32_t epoch;   // Epoch in which the type's name was last compared.
    // Objects in this window. `born` does not include births of pairs.
    uint32_t born, died;
    // Objects in garbage collections since the last Objects_fold.
    uint32_t gc_born, gc_died;
    uint16_t of; // Number of the type's name. Types can share a name.
    bool names;  // True if its objects are types or code.
};

struct ObjectPair {
    const void *type, *code; // Addresses. `type` is NULL if the pair is stale.
    uint32_t epoch;
    uint32_t born; // Objects in this window.
    // Number of followed objects that were born minus those that died.
    int32_t net;
    uint32_t id; // Id of the function, or 0 if it is not traced.
    uint16_t of; // Number of the type's name.
};

// Sums over all windows, as in struct ObjectSums.
struct ObjectPairSums {
    double born;       // Births.
    double net, net_s; // As in struct ObjectSums, but only of followed objects.
};

// CPython's report of a death does not say which function has created the
// object. Objects are therefore followed by their address from their birth on,
// if their place in the table is free. An object that stays alive keeps its
// place, so the objects that are followed at the end of a window are hardly
// ever temporary ones.
struct ObjectFollowed {
    const void *object[OBJECT_SLOTS];
    uint16_t pair[OBJECT_SLOTS];
    uint32_t count;
};

// Sums over all windows, for all types of one name. Older windows weigh less.
struct ObjectSums {
    char name[OBJECT_NAME];
    // Births and deaths in the newest window.
    uint32_t window_born, window_died;
    uint32_t window_gc_born, window_gc_died;
    // Births, deaths, and the sum of births^2 / seconds of the window.
    double born, died, born_squares;
    double gc_born, gc_died; // Births and deaths in garbage collections.
    // In the sums from `net` to `gc_squares`, old windows keep their weight
    // longer. `net` is births minus deaths, `net_s` the sum of their products
    // with the window's seconds. `grew` and `shrank` are numbers of windows.
    double net, net_squares, net_s, grew, shrank;
    double gc_net, gc_squares; // Births minus deaths in garbage collections.
    double age_s; // Seconds for which the objects have been counted.
    uint64_t counted_born, counted_died; // Sums that never decay.
};

// Sums over time. Older times weigh less.
struct ObjectsTotals {
    // The number of windows, their wall-clock seconds and the squares of these,
    // their CPU seconds, and the births and deaths in all windows.
    double windows, window_s, squares, window_cpu_s, events;
    double late;          // Number of windows with Objects.late.
    double open_s;        // Seconds of windows, with the events' time.
    double gc_events;     // Births and deaths in collections.
    double cpu_s, wall_s; // Sums over all time, not only windows.
};

struct ObjectsTime {
    uint64_t ticks, cpu_ns; // cpu_ns is the CPU time of the process.
};

enum ObjectsPhase {
    OBJECTS_CLOSED, // No window is open.
    OBJECTS_OPEN,   // Births and deaths are counted.
    OBJECTS_ENDED   // The window has ended.
};

struct Objects {
    uint32_t epoch;
    // Number of events until the tracer reads the clock again, and the value
    // from which it counts down.
    uint32_t left, check;
    enum ObjectsPhase phase;
    // True during a garbage collection whose births and deaths are counted.
    bool collecting;
    uint64_t stop_ticks; // Ticks at which the window ends.
    // Number of events after which the window is too expensive.
    double events_left;
    struct ObjectsTime opened, ended; // The beginning and end of the window.
    double planned_s;                 // Seconds that the window should last.
    // True if the wait for the GIL before the window was long. The caller of
    // Objects_open sets `late`.
    bool late;
    uint32_t opened_epoch; // Value of `epoch` at the beginning of the window.
    uint32_t slow;         // Number of the window's slow events.
    uint16_t names, types, pairs; // Used entries of the arrays.
    bool stale;                   // True if an address has a new owner.
    bool counts_deaths;           // True if CPython reports deaths.
    // The number of objects of a window that ended early is multiplied by
    // `scale`.
    double scale;
    double hz;      // Ticks per second.
    double event_s; // Seconds that one event takes.
    // In `longer`, older times keep their weight longer.
    struct ObjectsTotals now, longer;
    struct ObjectsTime folded; // Time of the newest call of Objects_fold.
    uint16_t type_slots[OBJECT_SLOTS], pair_slots[OBJECT_SLOTS];
    struct ObjectType type[OBJECT_TYPES];
    struct ObjectPair pair[OBJECT_PAIRS];
    struct ObjectSums sums[OBJECT_NAMES];
    struct ObjectPairSums pair_sums[OBJECT_PAIRS];
    struct ObjectFollowed followed;
};

static inline uint32_t Objects_slot(const void *type, const void *code)
{
    uint64_t mixed = ((uintptr_t)type >> 4) * 0x9e3779b97f4a7c15u ^
                     ((uintptr_t)code >> 4) * 0xc2b2ae3d27d4eb4fu;

    return mixed >> 40 & (OBJECT_SLOTS - 1);
}

// Returns the number of the type that had this address last, or 0.
static inline uint32_t Objects_type_at(const struct Objects *objects,
                                       const void *type)
{
    uint32_t slot = Objects_slot(type, NULL), number;

    while ((number = objects->type_slots[slot]) &&
           objects->type[number].type != type)
        slot = (slot + 1) & (OBJECT_SLOTS - 1);
    return number;
}

// Returns the number of a type, or 0 if the caller must call Objects_meet_type.
static inline uint32_t Objects_find_type(const struct Objects *objects,
                                         const void *type)
{
    uint32_t number = Objects_type_at(objects, type);

    return objects->type[number].epoch == objects->epoch ? number : 0;
}

// Returns the number of the pair that had these addresses last, or 0.
static inline uint32_t Objects_pair_at(const struct Objects *objects,
                                       const void *type, const void *code)
{
    uint32_t slot = Objects_slot(type, code), number;

    while ((number = objects->pair_slots[slot]) &&
           (objects->pair[number].type != type ||
            objects->pair[number].code != code))
        slot = (slot + 1) & (OBJECT_SLOTS - 1);
    return number;
}

// Follows an object of a pair if there is room.
static inline void Objects_follow(struct Objects *objects, const void *object,
                                  uint32_t pair)
{
    struct ObjectFollowed *followed = &objects->followed;
    uint32_t slot = Objects_slot(object, NULL);

    if (followed->object[slot])
        return;
    followed->object[slot] = object;
    followed->pair[slot] = (uint16_t)pair;
    followed->count++;
    objects->pair[pair].net++;
}

// Ends following an object that dies.
static inline void Objects_leave(struct Objects *objects, const void *object)
{
    struct ObjectFollowed *followed = &objects->followed;
    uint32_t slot = Objects_slot(object, NULL);

    if (followed->object[slot] != object)
        return;
    followed->object[slot] = NULL;
    followed->count--;
    objects->pair[followed->pair[slot]].net--;
}

// Counts the birth of `object`. Returns false if the caller must call
// Objects_meet_pair instead.
static inline bool Objects_born(struct Objects *objects, const void *object,
                                const void *type, const void *code)
{
    uint32_t number = Objects_pair_at(objects, type, code);
    struct ObjectPair *pair = &objects->pair[number];

    if (!number || pair->epoch != objects->epoch)
        return false;
    pair->born++;
    Objects_follow(objects, object, number);
    return true;
}

// Counts a birth or a death in a collection, also after a window has ended. An
// object of the window that dies then was garbage already, and is no leak.
static inline void Objects_collect(struct Objects *objects, const void *object,
                                   uint32_t type, bool born)
{
    if (!born)
        Objects_leave(objects, object);
    objects->type[type].gc_born += born;
    objects->type[type].gc_died += !born;
    objects->epoch += !born && objects->type[type].names;
}

static inline void Objects_died(struct Objects *objects, const void *object,
                                uint32_t type)
{
    Objects_leave(objects, object);
    objects->type[type].died++;
    // The address of a dead type or code object may get a new owner.
    objects->epoch += objects->type[type].names;
}

// Returns true if the caller must now compare the clock with `stop_ticks`.
static inline bool Objects_must_check(struct Objects *objects)
{
    if (--objects->left)
        return false;
    objects->left = objects->check;
    return true;
}

// After Objects_init the caller sets `event_s`.
void Objects_init(struct Objects *objects, double hz, bool counts_deaths);
// Returns the number of the type at the address `type`, or 0 if there is no
// room. For a type that is being freed, `name` can lack the module. `names` is
// true if the type's objects are types or code objects. Allocates nothing.
uint32_t Objects_meet_type(struct Objects *objects, const void *type,
                           const char *name, bool names);
// Counts the birth of `object`, whose type has the number `number`. The code at
// the address `code` has the id `id`. Allocates nothing.
void Objects_meet_pair(struct Objects *objects, const void *object,
                       uint32_t number, const void *code, uint32_t id);
// Returns true if collections can be counted for `rate` seconds per second.
bool Objects_may_collect(const struct Objects *objects, double rate);
// Begins a window that is planned to last `s` seconds. The tracer ends it after
// `events` events, or after `s` seconds if `ends` is true. The caller holds the
// GIL.
void Objects_open(struct Objects *objects, const struct ObjectsTime *at,
                  double s, double events, bool ends);
// Returns true if the window must end now. The tracer calls Objects_is_over if
// Objects_must_check returns true.
bool Objects_is_over(struct Objects *objects, uint64_t ticks);
// Ends the window. The caller holds the GIL.
void Objects_end(struct Objects *objects, const struct ObjectsTime *at);
// Adds the window to the sums if it has ended, and drops it otherwise. Also
// adds the time since the last fold if there was a window. Returns the seconds
// of CPU time that the events of the window took. The caller holds the GIL.
double Objects_fold(struct Objects *objects, const struct ObjectsTime *at);
// Returns the seconds that the next window should last if there are `period_s`
// seconds from one window to the next, and if events may take `rate` seconds
// per second. `longer` should be true for a random half of the windows. Returns
// `period_s` if the rate allows counting all objects.
double Objects_plan(const struct Objects *objects, double rate, double period_s,
                    bool longer);

// A type's births, deaths and their difference, per second of wall-clock time.
struct ObjectRates {
    double born, died, net;
    double born_error, net_error; // Standard deviations.
    bool grows;                   // True if the number of objects surely grows.
};

struct ObjectRates Objects_rates(const struct Objects *objects,
                                 const struct ObjectSums *sums);
// Returns the births per second of pairs whose sums are `sums`.
double Objects_pair_rate(const struct Objects *objects,
                         const struct ObjectPairSums *sums);
// Returns a number that is larger the more of the pairs' objects stay alive.
double Objects_pair_growth(const struct Objects *objects,
                           const struct ObjectPairSums *sums);
// Returns the part of the time that was in windows.
double Objects_part(const struct Objects *objects);
