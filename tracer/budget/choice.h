// SPDX-License-Identifier: MIT
// Chooses the functions that stay armed. The functions with the cheapest hooks
// stay armed, until half of the hooks' time is used. The hooks of the program's
// own functions may use three quarters of the hooks' time. All functions that
// do not stay armed are armed only in slices, which are short times in which
// all functions are armed. The governor's thread makes the choice without the
// GIL.
#pragma once

#include "tracer/code/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ChoiceItem {
    double key;    // The item with the smallest key is chosen first.
    double cost_s; // Seconds per second that the function's hooks take.
    uint32_t id;
    // True for a function of the program, false for a library's function.
    bool own;
    bool stays;  // True if the function is armed after this choice.
    bool stayed; // True if the function was armed before this choice.
};

struct Choice { // If all fields are zero, the choice is empty.
    struct ChoiceItem *items;
    size_t count, room, next;
    // Seconds per second that the hooks of the functions that stay armed take.
    double stays_s;
    bool left_out;  // True if some functions do not stay armed.
    uint64_t ticks; // Ticks at the time of the choice.
};

struct ChoiceReading {
    struct Registry *registry;
    uint64_t ticks; // Ticks at the time of the choice.
    double hz;      // Ticks per second.
    double call_s;  // Seconds of CPU time that the hooks of one call take.
    double rate;    // Seconds per second that all hooks may take.
    // True if a slice has just ended. If `sliced` is true, the choice is among
    // all functions, otherwise among the armed functions.
    bool sliced;
};

// Makes a new choice, and stores for each function the present rate of its
// calls. Choice_make opens a read section. Returns 0, or -ENOMEM if the choice
// is incomplete.
int Choice_make(struct Choice *choice, const struct ChoiceReading *reading);
// Returns the next item that the caller must carry out, or NULL. The returned
// item is valid until the next Choice_make.
const struct ChoiceItem *Choice_pop(struct Choice *choice);
void Choice_release(struct Choice *choice);
