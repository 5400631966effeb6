// SPDX-License-Identifier: MIT
// Hand-made snapshots for the viewer's tests: a small program with functions in
// every state, a hostile one, and as many more as a test wants.
#ifndef OCULAR_TESTS_TUI_SAMPLE_H
#define OCULAR_TESTS_TUI_SAMPLE_H

#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

struct SampleWish {
    unsigned tick;   // number of the snapshot: counters grow with it
    unsigned extra;  // functions beside the dozen
    int no_sampler;  // all shares are null
    int trouble;     // ... and the snapshot says why
    int no_overhead; // the tracer does not measure itself
    int hostile;     // names of all kinds, up to 10 kB long, in all places
};

// Never NULL: a test without memory may abort.
struct Snapshot *Sample_new(struct SampleWish wish);
// Its rows, for a test to change.
struct Function *Sample_functions(struct Snapshot *sample);
// A listing of lines 4 to 8 of tests/tui/sample_source.txt, or of the file
// `file`.
struct Listing *Sample_listing(uint64_t id, const char *file);

// Stacks of the sample's functions, a hostile one among them.
struct FlameTable *Sample_stacks(struct SampleWish wish);

// Hostile texts of all kinds, up to 10 kB long, which are never freed, and
// listings and stacks with such texts everywhere.
const char *Sample_hostile(unsigned which);
void Sample_make_hostile(struct Listing *listing);
void Sample_make_hostile_stacks(struct FlameTable *table);

#endif
