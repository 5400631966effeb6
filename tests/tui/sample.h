// SPDX-License-Identifier: MIT
// Makes snapshots for the viewer's tests. The snapshots have a small program
// with functions in every state, a function with a hostile name, and more
// functions if a test asks for more.
#ifndef OCULAR_TESTS_TUI_SAMPLE_H
#define OCULAR_TESTS_TUI_SAMPLE_H

#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

struct SampleWish {
    unsigned tick;  // Number of the snapshot. Counters grow with this number.
    unsigned extra; // Number of functions in addition to the dozen.
    int no_sampler; // If set, all shares are null.
    int trouble;    // If set, the snapshot says what is wrong with the sampler.
    int no_overhead; // If set, the tracer does not measure itself.
    int hostile; // If set, all texts are names of any kind, up to 10 kB long.
};

// Makes a snapshot. Aborts without memory, so the result is never NULL.
struct Snapshot *Sample_new(struct SampleWish wish);
// Returns the snapshot's functions, which a test may change.
struct Function *Sample_functions(struct Snapshot *sample);
// Makes a listing of lines 4 to 8 of `file`, usually
// tests/tui/sample_source.txt.
struct Listing *Sample_listing(uint64_t id, const char *file);

// Makes stacks of the sample's functions, including the function with a hostile
// name.
struct FlameTable *Sample_stacks(struct SampleWish wish);

// Sample_hostile returns hostile texts of all kinds, up to 10 kB long. The
// texts are never freed. The other two functions put hostile texts everywhere
// into a listing or a table of stacks.
const char *Sample_hostile(unsigned which);
void Sample_make_hostile(struct Listing *listing);
void Sample_make_hostile_stacks(struct FlameTable *table);

#endif
