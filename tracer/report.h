// SPDX-License-Identifier: MIT
// The report at stop: the hottest functions and their hottest instructions as
// a disassembly, "BASE -> SPECIALISED", source line, hits and cycles. Text
// into a buffer; who prints it is not this file's business.
#ifndef OCULAR_TRACER_REPORT_H
#define OCULAR_TRACER_REPORT_H

#include "ipc/bytes.h"
#include "ipc/snapshot.h"
#include "tracer/detail.h"

struct ReportPart { // one function; hottest first
    const struct Function *function;
    const struct Code *code;
    const struct Detail *detail;
};

// snapshot: the final one. `trace_path` NULL: no timeline was written.
void Report_write(struct Bytes *out, const struct Snapshot *snapshot,
                  const struct ReportPart *parts, size_t part_count,
                  const struct Opcodes *opcodes, const char *trace_path);

#endif
