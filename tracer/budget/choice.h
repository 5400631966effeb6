// SPDX-License-Identifier: MIT
// Chooses the functions that always keep their hooks (stay armed). The
// functions with the cheapest hooks are chosen, until half of the hooks' time
// is used. The hooks of the program's own functions may use three quarters of
// the hooks' time. Among the functions of the program, and among those of
// libraries, the ones for whose latencies a viewer has asked come first. All
// other functions have hooks only in slices, which are short times in which all
// functions have hooks. The governor's thread makes the choice without the GIL.
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
    bool stays;  // True if the function keeps or gets its hooks.
    bool stayed; // True if the function had hooks before.
};

struct Choice { // All fields are 0 before the first choice.
    struct ChoiceItem *items;
    size_t count, room, next;
    // Seconds per second that hooks take in functions that always keep them.
    double stays_s;
    bool left_out;  // True if some functions have hooks only in slices.
    uint64_t ticks; // Ticks at the time of the choice.
};

struct ChoiceReading {
    struct Registry *registry;
    uint64_t ticks; // Ticks at the time of the choice.
    double hz;      // Ticks per second.
    double call_s;  // Seconds of CPU time that the hooks of one call take.
    double rate;    // Seconds per second that all hooks may take.
    // True if a slice has just ended. If `sliced` is true, Choice_make chooses
    // among all functions, otherwise among the functions that have hooks.
    bool sliced;
};

// Makes a new choice of the functions that keep their hooks, and stores each
// function's call rate. Choice_make begins and ends an RCU read section.
// Returns 0, or -ENOMEM if the choice is incomplete.
int Choice_make(struct Choice *choice, const struct ChoiceReading *reading);
// Returns the next function whose hooks the caller must change, or NULL. The
// returned item is valid until the next Choice_make.
const struct ChoiceItem *Choice_pop(struct Choice *choice);
void Choice_release(struct Choice *choice);
