// SPDX-License-Identifier: MIT
// Merges the snapshots of several processes that do the same work into one
// snapshot (docs/metrics.md, "Several processes"). Two functions are the same
// if their names, files and lines are equal.
#pragma once

#include "ipc/base/id_map.h"
#include "ipc/snapshot.h"
#include "tui/model/fold.h"
#include "tui/model/standout.h"

// struct Merge keeps the ids that the merged functions have got. A struct of
// zero bytes has no ids.
struct Merge {
    struct IdMap names; // Hash of name, file and line -> id of the merged row.
    uint64_t last_id;
};

struct MergePart {
    pid_t pid;
    const struct Snapshot *snapshot;
    // Map from the process's function ids to the ids of the merged rows. NULL:
    // the snapshot was made by Merge_make.
    struct IdMap *ids;
    enum FoldAge age;
    // Seconds since the process's last message, if `age` is FOLD_SILENT.
    double silent_s;
    // Seconds from the start of the merged trace to the start of this process's
    // trace.
    double begin_s;
};

struct MergeRequest {
    const struct MergePart *parts;
    size_t count;
    uint64_t pid;
    // Uptime of the merged snapshot. The merged uptime is at least the uptime
    // of each part.
    double uptime_s;
};

void Merge_release(struct Merge *merge);
// Returns a new merged snapshot. If `standouts` is not NULL, also finds for
// each function the processes whose numbers stand out. Returns NULL if memory
// is out.
struct Snapshot *Merge_make(struct Merge *merge,
                            const struct MergeRequest *request,
                            struct Standouts *standouts);

// Returns the name of the field with the number `index` among the fields that
// are not merged. A field that is not merged is null or empty in a merged
// snapshot. Returns NULL if there is no such field. Sets *group as in struct
// Field.
const char *Merge_lacks(size_t index, const char **group);
