// SPDX-License-Identifier: MIT
// A listing has one row for each instruction of a function.
// tracer/session/listing_builder.c builds the listing, the server sends it to a
// viewer, and the annotate view shows it. A finished listing never changes.
#pragma once

#include "ipc/base/arena.h"
#include "ipc/record.h"

// A row of a listing, for one instruction and the EXTENDED_ARGs before it.
struct ListingRow {
    uint64_t offset; // Offset of the instruction in its code object, in bytes.
    // Line in the source file; null if the instruction has no line.
    uint64_t line;
    const char *opcode; // The base form of the instruction's opcode.
    // The newest form of the instruction's opcode; null if the newest form is
    // the base form.
    const char *live;
    // Argument of the instruction; null if the opcode takes none.
    uint64_t argument;
    // The instruction's argument as a text: a name, a constant or an operator.
    const char *words;
    // Offset to which the instruction may jump; null if the instruction does
    // not jump.
    uint64_t target;
    // Name of the function that a call instruction calls, or null.
    const char *callee;
    // Number of times that the instruction ran; null if unknown. If hits_exact
    // is false, the instruction may have run more often.
    uint64_t hits;
    uint64_t hits_exact;
    // Cycles of one execution of the instruction; null if unknown.
    double cycles;
    // bool: true if the instruction's hook is installed; null if the
    // instruction cannot have a hook.
    uint64_t armed;
    // bool: true if the instruction's opcode has specialised forms.
    uint64_t specializable;
    // Number of samples that found this instruction running; null if there is
    // no sampler.
    uint64_t samples;
    // The part of `samples` in which C code was running that the instruction
    // had called.
    uint64_t c_samples;
    // bool: true if a specialised form of the instruction was seen at any time.
    uint64_t was_specialized;
    // Number of times that the instruction jumped instead of going on to the
    // next instruction; null if the instruction is no branch or was not
    // counted. The part of `hits`.
    uint64_t taken;
    // Number of hits of the instruction's line; null if lines are not counted.
    // If line_hits_exact is false, the line may have run more often.
    uint64_t line_hits;
    uint64_t line_hits_exact;
    double line_hits_per_s;
};

// CPU time of one C function that was called, directly or not, by one line of
// the function.
struct ListingNative {
    uint64_t line; // Line of the Python code; null if unknown.
    uint64_t ns;   // ns of CPU time since the sampler began.
    // As in FlameFunction. A null file stands for code that is not known.
    const char *name;
    const char *file;
    uint64_t address;
    const char *build;
};

struct Listing {
    uint64_t id; // Id of the function.
    const char *name;
    const char *file;
    uint64_t line;
    // bool: true if hits and cycles are measured for each instruction. If
    // `precise` is true, each instruction runs in its generic form.
    uint64_t precise;
    // Number of instructions of the function. The listing may have fewer rows
    // than the function has instructions.
    uint64_t instructions;
    // bool: true if the rows have `words`. If `words` is false, the rows of a
    // later listing may have `words`.
    uint64_t words;
    double process_start_s; // Unix time at which the process began.
    // Seconds from the start of tracing to the making of this listing.
    double at_s;
    // Line at which a call waits in a thread, and seconds for which the thread
    // has not run. Null if no call waits for long. Of several calls, the one
    // that has waited for the longest time.
    uint64_t waits_line;
    double waits_s;
    const struct ListingRow *rows;
    size_t row_count;
    // CPU times of C functions, largest first; empty if no viewer has asked for
    // C functions.
    const struct ListingNative *natives;
    size_t native_count;
    struct Arena arena;
};

extern const struct Record LISTING_RECORD; // The schema of a whole listing.
extern const struct Record LISTING_ROW_RECORD;

#define LISTING_ROWS 32768  // Maximum number of rows of a listing.
#define LISTING_NATIVES 256 // Maximum number of C functions of a listing.

// Returns an empty listing, in which every member is null, or NULL if there is
// no memory.
struct Listing *Listing_new(void);
void Listing_free(struct Listing *listing); // `listing` may be NULL.
