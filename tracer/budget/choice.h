// SPDX-License-Identifier: MIT
// Chooses which functions stay armed: those whose hooks cost least, until half
// of the hooks' time is used, or three quarters by the program's own code.
// The others are armed in slices. The governor's thread, without the
// interpreter's lock.
#ifndef OCULAR_TRACER_BUDGET_CHOICE_H
#define OCULAR_TRACER_BUDGET_CHOICE_H

#include "tracer/code/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ChoiceItem {
    double key;    // the smaller, the sooner it is chosen
    double cost_s; // s of its hooks a second
    uint32_t id;
    bool own;    // the program's, and no library's
    bool stays;  // armed from now on,
    bool stayed; // ... and before
};

struct Choice { // all zero: an empty one
    struct ChoiceItem *items;
    size_t count, room, next;
    double stays_s; // s a second of the hooks that stay armed
    bool left_out;  // there are functions that do not stay so
    uint64_t ticks; // when it was made: the end of a slice
};

struct ChoiceReading {
    struct Registry *registry;
    uint64_t ticks; // now
    double hz;      // ticks a second
    double call_s;  // that the hooks of a call take
    double rate;    // s a second that all hooks may take
    bool sliced;    // a slice has just ended: all functions are candidates, and
                    // not only those that are armed
};

// Replaces the choice, and notes at each function how often it is called now.
// Opens a read section. 0, or -ENOMEM: a part is missing.
int Choice_make(struct Choice *choice, const struct ChoiceReading *reading);
// The next one to be carried out, or NULL. Valid until the next Choice_make.
const struct ChoiceItem *Choice_pop(struct Choice *choice);
void Choice_release(struct Choice *choice);

#endif
