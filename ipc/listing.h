// SPDX-License-Identifier: MIT
// One function's code, instruction by instruction, as a process sends it to a
// viewer that looks at it: the value that tracer/session/listing_builder.c
// builds, the wire carries and the annotate view shows. Never changed once it
// is built.
#ifndef OCULAR_IPC_LISTING_H
#define OCULAR_IPC_LISTING_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

#include <stdbool.h>

struct ListingRow {     // an instruction; EXTENDED_ARG is folded into the next
    uint64_t offset;    // bytes
    uint64_t line;      // null: it has none
    const char *opcode; // base
    const char *live;   // what is known to be there instead; null: the base
    uint64_t argument;  // null: the opcode takes none
    const char *words;  // the argument for people: a name, a constant, "+"
    uint64_t target;    // offset that it may jump to, or null
    const char *callee; // what a call calls, as the bytecode names it, or null
    uint64_t hits;      // null: not known; a floor unless hits_exact
    uint64_t hits_exact;
    double cycles;          // an execution's, null: not known
    uint64_t armed;         // bool: its hook is in; null: it has none
    uint64_t specializable; // bool: there are specialised forms of it
    uint64_t samples;   // looks that found it running here; null: no sampler
    uint64_t c_samples; // of these, in C code that it had called
    uint64_t
        was_specialized; // bool: it has been seen specialised, now or before
};

struct Listing {
    uint64_t id; // of the function
    const char *name;
    const char *file;
    uint64_t line;
    uint64_t precise; // bool: hits and cycles are each instruction's own, and
                      // the cycles those of the generic form
    uint64_t instructions;  // there are; rows may be fewer
    uint64_t words;         // bool: arguments are in words; they may come later
    double process_start_s; // Unix time at which the process began
    double at_s;            // s since tracing began
    const struct ListingRow *rows;
    size_t row_count;
    struct Arena arena;
};

extern const struct Record LISTING_RECORD; // the root

#define LISTING_ROWS 32768 // at most, in one listing

// Empty, every member null. NULL when memory is out.
struct Listing *Listing_new(void);
void Listing_free(struct Listing *listing); // NULL is fine

#endif
