// SPDX-License-Identifier: MIT
// A listing has one row for each instruction of a function.
// tracer/session/listing_builder.c builds a listing, the server sends the
// listing to a viewer, and the annotate view shows the listing. A finished
// listing never changes.
#ifndef OCULAR_IPC_LISTING_H
#define OCULAR_IPC_LISTING_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

#include <stdbool.h>

// A row is an instruction with the EXTENDED_ARGs before the instruction.
struct ListingRow {
    uint64_t offset;    // bytes
    uint64_t line;      // null: the instruction has no line
    const char *opcode; // the base form of the opcode
    const char *live;   // newest form of the opcode; null: the base form
    uint64_t argument;  // null: the opcode takes none
    const char *words;  // the argument as a text: a name, a constant, "+"
    uint64_t target;    // offset that the jump may go to, or null
    // Name of the function that a call instruction calls, or null.
    const char *callee;
    uint64_t hits; // a minimum, unless hits_exact; null: unknown
    uint64_t hits_exact;
    double cycles;          // cycles of one execution; null: unknown
    uint64_t armed;         // bool: the hook is in; null: no hook is possible
    uint64_t specializable; // bool: the opcode has specialised forms
    // Samples that found this instruction running; null: no sampler.
    uint64_t samples;
    // Part of `samples` in C code that this instruction called.
    uint64_t c_samples;
    // Bool: a specialised form of the instruction was seen at some time.
    uint64_t was_specialized;
};

struct Listing {
    uint64_t id; // of the function
    const char *name;
    const char *file;
    uint64_t line;
    // Bool: hits and cycles are measured for each instruction, and each
    // instruction runs in its generic form.
    uint64_t precise;
    // Number of instructions of the function; there may be fewer rows.
    uint64_t instructions;
    // Bool: `words` is set in the rows. If false, a later listing may have
    // `words`.
    uint64_t words;
    double process_start_s; // Unix time at which the process began
    // Seconds from the start of tracing to the making of this listing.
    double at_s;
    const struct ListingRow *rows;
    size_t row_count;
    struct Arena arena;
};

extern const struct Record LISTING_RECORD; // the schema of a whole listing

#define LISTING_ROWS 32768 // maximum number of rows of a listing

// Returns an empty listing, in which every member is null, or NULL if memory is
// out.
struct Listing *Listing_new(void);
void Listing_free(struct Listing *listing); // NULL is fine

#endif
