// SPDX-License-Identifier: MIT
// Describes the input for a trace file, which is a timeline that does not
// change any more, and facts about the timeline. The reader of a recording
// fills in struct PerfettoTrace and frees its memory. The code of each file
// format reads struct PerfettoTrace.
#pragma once

#include "tracer/base/opcode.h"
#include "tracer/timeline/recording_format.h"
#include "tracer/timeline/view.h"

#include <stdbool.h>

struct Snapshot;

// The name of a function, and where the function is. The texts in struct
// PerfettoName are valid until the next call of PerfettoTrace.name.
struct PerfettoName {
    const char *name;
    const char *file;
    uint32_t line;
    uintptr_t address;
};

struct PerfettoTrace {
    // The trace of another process that is written to the same file, or NULL.
    const struct PerfettoTrace *next;
    // Name of the recording's file, or NULL if there is only one recording.
    const char *file;
    const struct TimelineView *view;
    pid_t pid;
    const char *command;
    const char *python; // Version of CPython.
    const char *mode;
    uint64_t threshold;
    // A snapshot with Ocular's version, the budget and the filter, or NULL if
    // unknown.
    const struct Snapshot *settings;
    // The newest snapshot of the program, or NULL.
    const struct Snapshot *snapshot;
    // Ticks that are time 0 of the trace file. No event is before.
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    // ns of CLOCK_BOOTTIME at start_ticks, only used for the binary format.
    uint64_t start_boot_ns;
    double hz;
    const struct Opcodes *opcodes; // Names of opcodes.
    // The functions that have no hooks (are dark) at the end of the timeline.
    struct RecordingDark *dark;
    size_t dark_count;
    void *context; // First argument of `name`.
    // `name` returns false if the name of the function is unknown. In the trace
    // file, a function without a name is called "<retired>".
    bool (*name)(void *context, uint32_t id, struct PerfettoName *name);
    void *watcher; // First argument of `progress`.
    // `progress` is called from time to time with the finished fraction (0 to
    // 1) and the present size of the file in bytes. If `progress` returns
    // false, the writing is cancelled. `progress` may be NULL.
    bool (*progress)(void *context, double done, uint64_t bytes);
};

// The file to write, as a path or as an open file. The caller keeps the
// ownership of an open file.
struct FormatsFile {
    // The ending of the path says whether the file is compressed.
    const char *path;
    // Descriptor of the open file, or 0 if the writer opens `path`.
    int descriptor;
    // The file that `descriptor` meant when it was opened.
    const struct Opened *opened;
    bool overwrite; // True if an existing file may be replaced.
};

struct PerfettoResult {
    uint64_t bytes; // Size of the trace file in bytes.
    uint64_t events;
    // ns of CPU time of the thread that writes the file, set by Exports_write.
    uint64_t cpu_ns;
};
