// SPDX-License-Identifier: MIT
// Writes a record as one line of JSON by its schema (record.h). A group of
// fields becomes an object, and a null value becomes null. The library json-c
// writes the JSON text. Any thread may call these functions.
#pragma once

#include "ipc/base/bytes.h"
#include "ipc/snapshot.h"
#include "tui/model/fleet.h"

// Each function appends an object and a newline, and returns 0 or -ENOMEM. The
// text is valid UTF-8, in which every character that could disturb a terminal
// is escaped.
int Json_record(struct Bytes *out, const struct Record *record,
                const void *value);
struct JsonSnapshot {
    const struct Snapshot *snapshot;
    double since_s; // Written as "counts_since_s", unless it is NaN.
    uint64_t tid;   // Written as "shares_of_tid", unless it is null.
    // The processes of a merged snapshot, or NULL. If `fleet` is not NULL, the
    // fields of its processes are written, too.
    const struct FleetState *fleet;
    // True if the snapshot was made from the recording of a run. For a recorded
    // run, the names of the numbers that the recording lacks are written, too.
    bool past;
};

int Json_snapshot(struct Bytes *out, const struct JsonSnapshot *from);
