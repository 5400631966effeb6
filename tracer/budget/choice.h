// SPDX-License-Identifier: MIT
// Chooses the functions that stay armed. The functions with the cheapest hooks
// stay armed, until half of the hooks' time is used, or three quarters by the
// program's own code. All other functions are armed in slices. The governor's
// thread makes the choice without the GIL.
#ifndef OCULAR_TRACER_BUDGET_CHOICE_H
#define OCULAR_TRACER_BUDGET_CHOICE_H

#include "tracer/code/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ChoiceItem {
    double key;    // the item with the smallest key is chosen first
    double cost_s; // s per second that the function's hooks take
    uint32_t id;
    bool own;    // a function of the program, not of a library
    bool stays;  // armed from now on
    bool stayed; // armed before this choice
};

struct Choice { // all zero: an empty choice
    struct ChoiceItem *items;
    size_t count, room, next;
    double stays_s; // s per second of the hooks that stay armed
    bool left_out;  // some functions do not stay armed
    uint64_t ticks; // when the choice was made
};

struct ChoiceReading {
    struct Registry *registry;
    uint64_t ticks; // time of the choice
    double hz;      // ticks per second
    double call_s;  // s: CPU time of one call's hooks
    double rate;    // s per second that all hooks may take
    // A slice has just ended, so that all functions are candidates. If no slice
    // has just ended, only armed functions are candidates.
    bool sliced;
};

// Makes a new choice, and notes for each function how often it is called now.
// Opens a read section. Returns 0, or -ENOMEM if the choice is incomplete.
int Choice_make(struct Choice *choice, const struct ChoiceReading *reading);
// Returns the next item that is to be carried out, or NULL. The item is valid
// until the next Choice_make.
const struct ChoiceItem *Choice_pop(struct Choice *choice);
void Choice_release(struct Choice *choice);

#endif
