// SPDX-License-Identifier: MIT
// The report at the end: the run and the cost of tracing, then the costliest
// functions and their hottest instructions. The text goes into a buffer, which
// the caller prints.
#ifndef OCULAR_TRACER_SESSION_REPORT_H
#define OCULAR_TRACER_SESSION_REPORT_H

#include "ipc/base/bytes.h"
#include "tracer/session/called_from.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/ranking.h"

struct ReportPart { // one function
    struct Ranked ranked;
    const struct ListingDetail *detail; // NULL: the code object is gone
    struct CalledFrom callers;
};

struct ReportTimeline {
    const char *path; // NULL: no file was written
    uint64_t bytes;   // of the file
    double cpu_s;     // CPU time for writing the file
};

struct Report {
    const struct Snapshot *snapshot; // the final snapshot
    const struct ReportPart *parts;  // sorted by rank
    size_t part_count;
    const struct Opcodes *opcodes;
    struct ReportTimeline timeline;
    bool brief; // at most five lines
};

void Report_write(struct Bytes *out, const struct Report *report);

#endif
