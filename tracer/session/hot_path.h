// SPDX-License-Identifier: MIT
// Writes a function's hottest instructions for the report, as a disassembly
// with "BASE -> SPECIALISED", source line, hits and cycles. The functions of
// hot_path.h only use their arguments.
#pragma once

#include "ipc/base/bytes.h"
#include "tracer/session/listing_detail.h"

// Widths of the columns in characters, which are the same for all functions of
// a report. All widths are 0 at first.
struct HotPathWidths {
    int offset, line, opcodes, hits, cycles;
};

// Makes the columns wide enough for the instructions of a function.
void HotPath_measure(struct HotPathWidths *widths,
                     const struct ListingDetail *detail,
                     const struct Opcodes *opcodes);
void HotPath_write(struct Bytes *out, const struct ListingDetail *detail,
                   const struct Opcodes *opcodes,
                   const struct HotPathWidths *widths);
