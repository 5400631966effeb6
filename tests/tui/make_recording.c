// SPDX-License-Identifier: MIT
// Writes a recording of made-up snapshots, for tests of views:
//   make_recording FILE [SNAPSHOTS [EXTRA FUNCTIONS]]
// One second passes between two snapshots. The recording ends with END.
#include "tests/tui/sample.h"
#include "tui/model/capture.h"

#include <stdio.h>
#include <stdlib.h>

#define LISTED 6 // number of functions whose code is in the recording, too

static void add(struct Capture *recording, struct Message message, double at)
{
    Capture_add(recording, &message, at);
    Message_release(&message);
}

// Adds the code of a function, which is the same for all functions. Every
// second function has no source file.
static void add_listing(struct Capture *recording,
                        const struct Function *function, double at)
{
    struct Message message = {.type = MESSAGE_LISTING};
    message.listing = Sample_listing(
        function->id,
        function->id % 2 ? "tests/tui/sample_source.txt" : "<string>");
    message.listing->name = function->name;
    add(recording, message, at);
}

int main(int argc, char **argv)
{
    struct Capture recording;
    char why[512];
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 12;
    struct SampleSpec request = {.extra =
                                     argc > 3 ? (unsigned)atoi(argv[3]) : 60};
    if (argc < 2 || Capture_open(&recording, argv[1], why, sizeof why)) {
        fprintf(stderr, "make_recording: %s\n", argc < 2 ? "which file?" : why);
        return 1;
    }
    for (; request.tick < count; request.tick++) {
        struct Snapshot *snapshot = Sample_new(request);
        for (size_t i = 0; i < snapshot->function_count && i < LISTED; i++)
            add_listing(&recording, &snapshot->functions[i],
                        100 + request.tick);
        add(&recording,
            (struct Message){.type = MESSAGE_SNAPSHOT, .snapshot = snapshot},
            100 + request.tick);
        add(&recording,
            (struct Message){.type = MESSAGE_STACKS,
                             .request = 1,
                             .stacks = Sample_stacks(request)},
            100 + request.tick);
    }
    add(&recording, (struct Message){.type = MESSAGE_END}, 100 + count);
    return Capture_close(&recording) ? 1 : 0;
}
