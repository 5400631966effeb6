// SPDX-License-Identifier: MIT
// The report at stop: the run and the cost of tracing, then the
// costliest functions and their hottest instructions. Text into a buffer; who
// prints it is not this file's business.
#ifndef OCULAR_TRACER_SESSION_REPORT_H
#define OCULAR_TRACER_SESSION_REPORT_H

#include "ipc/base/bytes.h"
#include "tracer/session/called_from.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/ranking.h"

struct ReportPart { // one function
    struct Ranked ranked;
    const struct ListingDetail *detail; // NULL: its code object is gone
    struct CalledFrom callers;
};

struct ReportTimeline {
    const char *path; // NULL: none was written
    uint64_t bytes;   // of the file
    double cpu_s;     // CPU time that writing it took
};

struct Report {
    const struct Snapshot *snapshot; // the final one
    const struct ReportPart *parts;  // as they are ranked
    size_t part_count;
    const struct Opcodes *opcodes;
    struct ReportTimeline timeline;
    bool brief; // five lines at most
};

void Report_write(struct Bytes *out, const struct Report *report);

#endif
