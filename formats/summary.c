// SPDX-License-Identifier: MIT
#include "formats/summary.h"
#include "formats/stretch_sums.h"
#include "formats/summary_listing.h"
#include "formats/summary_snapshot.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct Summary {
    struct RecordingReader reader;
    struct StretchSums sums;
};

int Summary_probe(const char *path, char *why, size_t why_size)
{
    return RecordingReader_probe(path, why, why_size);
}

int Summary_open(struct Summary **out, const char *path,
                 struct SummaryWatch watch, char *why, size_t why_size)
{
    struct Summary *summary = Heap_zeroed(1, sizeof *summary);
    int error;

    *out = NULL;
    if (!summary) {
        snprintf(why, why_size, "%s", strerror(ENOMEM));
        return -ENOMEM;
    }
    error = RecordingReader_open(
        &summary->reader, path,
        (struct RecordingWatch){watch.go_on, watch.context}, why, why_size);
    if (error) {
        Heap_free(summary);
        return error;
    }
    // The reader must not be moved to another address, because `sums` and
    // `reader.trace` contain pointers to it.
    StretchSums_init(&summary->sums, &summary->reader);
    *out = summary;
    return 0;
}

void Summary_close(struct Summary *summary)
{
    if (!summary)
        return;
    StretchSums_release(&summary->sums);
    RecordingReader_close(&summary->reader);
    Heap_free(summary);
}

struct SummaryStretch Summary_all(const struct Summary *summary)
{
    return (struct SummaryStretch){summary->sums.all_from_s,
                                   summary->sums.all_to_s};
}

struct SummaryStretch Summary_shown(const struct Summary *summary)
{
    return (struct SummaryStretch){summary->sums.from_s, summary->sums.to_s};
}

_Static_assert(SUMMARY_CURVE == STRETCH_CURVE, "one is the other");

const float *Summary_curve(const struct Summary *summary)
{
    return summary->sums.curve;
}

int Summary_read(struct Summary *summary, struct SummaryStretch stretch,
                 struct SummaryWatch watch)
{
    const struct RecordingWatch watcher = {watch.go_on, watch.context};

    return StretchSums_read(&summary->sums, stretch.from_s, stretch.to_s,
                            &watcher);
}

struct Snapshot *Summary_snapshot(const struct Summary *summary)
{
    return SummarySnapshot_make(&summary->sums);
}

struct Listing *Summary_listing(const struct Summary *summary, uint64_t id)
{
    return SummaryListing_make(&summary->sums, id);
}

struct FlameTable *Summary_stacks(struct Summary *summary)
{
    struct StretchSums *sums = &summary->sums;
    const struct ShareTime now = {.ns = 1, .full_ns = 1};
    double length_ns = 1e9 * StretchSums_length(sums);
    struct FlameTable *table = Flame_read(&sums->flame, &now, FLAME_NODES);
    struct FlameFunction *functions = table ? Flame_list(table) : NULL;
    struct FlameRow *rows;
    struct FlameWait *waits;
    struct PerfettoName name;
    size_t i;

    if (!functions) {
        FlameTable_free(table);
        return NULL;
    }
    // `const` may be cast away here, because the table has no other reader yet.
    rows = (struct FlameRow *)table->rows;
    for (i = 0; i < table->row_count; i++) {
        rows[i].share = (double)rows[i].cpu_ns / length_ns;
        rows[i].c_share = (double)rows[i].c_ns / length_ns;
    }
    waits = (struct FlameWait *)table->waits;
    for (i = 0; i < table->wait_count; i++)
        waits[i].share = (double)waits[i].ns / length_ns;
    for (i = 0; i < table->function_count; i++) {
        if (!StretchSums_name(sums, (uint32_t)functions[i].id, &name))
            continue;
        functions[i].name = Arena_text(&table->arena, name.name);
        functions[i].file = Arena_text(&table->arena, name.file);
        functions[i].line = name.line ? name.line : NULL_U64;
    }
    table->kept_s = StretchSums_length(sums);
    return table;
}
