// SPDX-License-Identifier: MIT
// Makes snapshots of a small program for the viewer's tests. The program has
// functions in every state, and a function with a hostile name. A test can ask
// for more functions.
#pragma once

#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

struct SampleSpec {
    unsigned tick;   // Number of the snapshot, with which the counts grow.
    unsigned extra;  // Functions in addition to the usual dozen.
    int no_sampler;  // If set, all shares are null.
    int trouble;     // If set, the snapshot says why it has no samples.
    int no_overhead; // If set, the snapshot has no overhead.
    int hostile;     // If set, all texts are hostile names of up to 10 kB.
};

// Makes a snapshot. Aborts if memory is out, so the result is never NULL.
struct Snapshot *Sample_new(struct SampleSpec request);
// Returns the functions of the snapshot. A test may change them.
struct Function *Sample_functions(struct Snapshot *sample);
// Makes a listing of a function in lines 4 to 8 of `file`, usually
// tests/tui/sample_source.txt.
struct Listing *Sample_listing(uint64_t id, const char *file);

// Makes stacks of the sample's functions, including the function with a hostile
// name.
struct FlameTable *Sample_stacks(struct SampleSpec request);

// Sample_hostile returns hostile texts of all kinds, up to 10 kB long. The
// texts are never freed. The two functions after it put hostile texts
// everywhere into a listing or a table of stacks.
const char *Sample_hostile(unsigned which);
void Sample_make_hostile(struct Listing *listing);
void Sample_make_hostile_stacks(struct FlameTable *table);
