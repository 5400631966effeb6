// SPDX-License-Identifier: MIT
// struct ObjectBoard passes the numbers of births and deaths of objects from
// the governor's thread to snapshots. Objects are counted if the session was
// asked to count them, and for a while after a viewer has asked for them. Any
// thread may call the functions of object_board.h, and no caller needs the GIL.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/hook/objects.h"
#include "tracer/session/engine.h"

#include <pthread.h>
#include <stdatomic.h>

#define OBJECT_LINES 400  // Lines of a table.
#define OBJECT_CREATORS 6 // Functions that create a type's objects.

// The births and deaths of a type's objects, or only of those that a function
// has created.
struct ObjectLine {
    char type[OBJECT_NAME];
    bool total;  // True for all functions together.
    uint32_t id; // Id of the function, or 0 if it is not traced.
    struct ObjectRates rates;
    uint64_t born, died; // As counted in windows.
};

struct ObjectTable {
    double part; // Fraction of the time that was in windows.
    size_t count;
    struct ObjectLine lines[OBJECT_LINES];
};

struct ObjectBoard {
    bool always; // True if objects are always counted.
    // CLOCK_MONOTONIC in ns at the last request, or 0 if there was none.
    _Atomic uint64_t asked_ns;
    pthread_mutex_t mutex;     // Guards the next members.
    struct ObjectTable *table; // The newest table, or NULL.
    const char *trouble;       // The reason why numbers are missing, or NULL.
};

void ObjectBoard_init(struct ObjectBoard *board, bool always);
void ObjectBoard_release(struct ObjectBoard *board);
// Asks to count objects. Returns true if the caller must wake the governor.
bool ObjectBoard_ask(struct ObjectBoard *board);
bool ObjectBoard_is_asked(const struct ObjectBoard *board);
// Returns true if the sums of earlier windows are kept.
bool ObjectBoard_is_kept(const struct ObjectBoard *board);
// Replaces the table. Returns the old table, which the caller owns.
struct ObjectTable *ObjectBoard_set(struct ObjectBoard *board,
                                    struct ObjectTable *table,
                                    const char *trouble);
// Fills the table with the most important types and with the functions that
// create most of their objects.
void ObjectTable_fill(struct ObjectTable *table, const struct Objects *objects);
// Copies the table into a snapshot.
void ObjectBoard_fill(struct ObjectBoard *board, struct Snapshot *snapshot,
                      struct Engine *engine);
