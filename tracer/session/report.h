// SPDX-License-Identifier: MIT
// Writes the report at the end of a trace. The report describes the run, the
// cost of tracing, the costliest functions and their hottest instructions. The
// caller gets the text of the report in a buffer and prints it.
#pragma once

#include "ipc/base/bytes.h"
#include "tracer/session/called_from.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/ranking.h"

struct ReportPart { // The report's data about one function.
    struct Ranked ranked;
    // NULL if the code object no longer exists.
    const struct ListingDetail *detail;
    struct CalledFrom callers;
};

struct ReportTimeline {
    // Path of the timeline's file, or NULL if no file was written.
    const char *path;
    uint64_t bytes; // Size of the timeline's file in bytes.
    double cpu_s; // Seconds of CPU time that writing the timeline's file took.
};

struct Report {
    const struct Snapshot *snapshot; // The final snapshot of the run.
    // The data about each function in the report, the costliest function first.
    const struct ReportPart *parts;
    size_t part_count;
    const struct Opcodes *opcodes;
    struct ReportTimeline timeline;
    bool brief; // True if the report has at most five lines.
};

void Report_write(struct Bytes *out, const struct Report *report);
