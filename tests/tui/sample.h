// SPDX-License-Identifier: MIT
// Hand-made snapshots for the viewer's tests: a small program with functions in
// every state, a hostile one, and as many more as a test wants.
#ifndef OCULAR_TESTS_TUI_SAMPLE_H
#define OCULAR_TESTS_TUI_SAMPLE_H

#include "ipc/snapshot.h"

struct SampleWish {
    unsigned tick;   // the how many-th snapshot: numbers grow with it
    unsigned extra;  // functions beside the dozen
    int no_sampler;  // all shares are null
    int no_overhead; // the tracer does not measure itself
};

// Never NULL: a test without memory may abort.
struct Snapshot *Sample_new(struct SampleWish wish);

#endif
