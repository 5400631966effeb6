// SPDX-License-Identifier: MIT
// The code of one function, instruction by instruction, as a process sends it
// to a viewer. tracer/session/listing_builder.c builds a listing, the wire
// carries it, and the annotate view shows it. A listing does not change once it
// is built.
#ifndef OCULAR_IPC_LISTING_H
#define OCULAR_IPC_LISTING_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

#include <stdbool.h>

struct ListingRow {     // an instruction; EXTENDED_ARG is part of the next one
    uint64_t offset;    // bytes
    uint64_t line;      // null: the instruction has no line
    const char *opcode; // the base form of the opcode
    const char *live;   // form last seen there; null: the base form
    uint64_t argument;  // null: the opcode takes none
    const char *words;  // the argument for people: a name, a constant, "+"
    uint64_t target;    // offset that the jump may go to, or null
    const char *callee; // name of what a call instruction calls, or null
    uint64_t hits;      // null: unknown; at least this many unless hits_exact
    uint64_t hits_exact;
    double cycles;          // of one execution; null: unknown
    uint64_t armed;         // bool: the hook is in; null: no hook is possible
    uint64_t specializable; // bool: the opcode has specialised forms
    uint64_t samples;   // samples that found the code here; null: no sampler
    uint64_t c_samples; // part of `samples`: in C code called from here
    // Bool: the instruction is or was seen in a specialised form.
    uint64_t was_specialized;
};

struct Listing {
    uint64_t id; // of the function
    const char *name;
    const char *file;
    uint64_t line;
    // Bool: hits and cycles are measured for each instruction. The cycles are
    // then those of the opcode's generic form.
    uint64_t precise;
    uint64_t instructions; // in the function; there may be fewer rows
    // Bool: the rows' words are set; otherwise they may come later.
    uint64_t words;
    double process_start_s; // Unix time at which the process began
    double at_s;            // s since tracing began, when the listing was made
    const struct ListingRow *rows;
    size_t row_count;
    struct Arena arena;
};

extern const struct Record LISTING_RECORD; // the schema of a whole listing

#define LISTING_ROWS 32768 // maximum number of rows of a listing

// Returns an empty listing, every member null, or NULL if memory is out.
struct Listing *Listing_new(void);
void Listing_free(struct Listing *listing); // NULL is fine

#endif
