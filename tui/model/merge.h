// SPDX-License-Identifier: MIT
// Makes one snapshot of the snapshots of several processes that do the same
// work (docs/metrics.md, "Several processes"). Two functions are the same if
// their names, files and lines are equal. fleet.c calls these functions on the
// viewer's thread.
#ifndef OCULAR_TUI_MODEL_MERGE_H
#define OCULAR_TUI_MODEL_MERGE_H

#include "ipc/snapshot.h"
#include "tui/model/fold.h"
#include "tui/model/id_map.h"
#include "tui/model/standout.h"

// A merge gives ids to functions. A zeroed merge has given none.
struct Merge {
    struct IdMap names; // hash of name, file and line; id of the merged row
    uint64_t last_id;
};

struct MergePart {
    pid_t pid;
    const struct Snapshot *snapshot;
    // The process's ids, and the ids of the merged rows. NULL: the snapshot is
    // a result of Merge_make.
    struct IdMap *ids;
    enum FoldAge age;
    double silent_s; // seconds without a message, if `age` is FOLD_SILENT
    // Seconds from the beginning of the result to the beginning of the trace.
    double begin_s;
};

struct MergeWish {
    const struct MergePart *parts;
    size_t count;
    uint64_t pid;
    double uptime_s; // of the result; at least the uptime of each part
};

void Merge_release(struct Merge *merge);
// Returns a new snapshot. If `standouts` is not NULL, fills the list of the
// processes that stand out, one entry for each function. Returns NULL if memory
// is out.
struct Snapshot *Merge_make(struct Merge *merge, const struct MergeWish *wish,
                            struct Standouts *standouts);

// Returns a name of a field of snapshots that is not merged, and null or empty
// in the result, or NULL if `index` is beyond the last. `group` is as in struct
// Field.
const char *Merge_lacks(size_t index, const char **group);

#endif
