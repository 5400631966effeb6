// SPDX-License-Identifier: MIT
// Writes the report at the end of a trace. The report describes the run, the
// cost of tracing, the costliest functions and the hottest instructions of
// these functions. The text goes into a buffer, and the caller prints the
// buffer.
#ifndef OCULAR_TRACER_SESSION_REPORT_H
#define OCULAR_TRACER_SESSION_REPORT_H

#include "ipc/base/bytes.h"
#include "tracer/session/called_from.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/ranking.h"

struct ReportPart { // the data of one function
    struct Ranked ranked;
    // NULL if the code object no longer exists
    const struct ListingDetail *detail;
    struct CalledFrom callers;
};

struct ReportTimeline {
    const char *path; // NULL if no file was written
    uint64_t bytes;   // size of the file in bytes
    double cpu_s;     // CPU time for writing the file
};

struct Report {
    const struct Snapshot *snapshot; // the final snapshot
    const struct ReportPart *parts;  // sorted by rank, the costliest first
    size_t part_count;
    const struct Opcodes *opcodes;
    struct ReportTimeline timeline;
    bool brief; // true if the report has at most five lines
};

void Report_write(struct Bytes *out, const struct Report *report);

#endif
