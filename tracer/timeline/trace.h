// SPDX-License-Identifier: MIT
// Describes the input of a trace file, which is a timeline that does not change
// any more, and data about the timeline. The reader of a recording fills in the
// struct and frees its memory. perfetto.c and the formats read the struct.
#ifndef OCULAR_TRACER_TIMELINE_TRACE_H
#define OCULAR_TRACER_TIMELINE_TRACE_H

#include "tracer/base/opcode.h"
#include "tracer/timeline/recording_format.h"
#include "tracer/timeline/view.h"

struct Snapshot;

// The name of a function. The texts are valid until the next call of
// PerfettoTrace.name.
struct PerfettoName {
    const char *name;
    const char *file;
    uint32_t line;
    uintptr_t address;
};

struct PerfettoTrace {
    // Trace of another process that goes into the same file, or NULL.
    const struct PerfettoTrace *next;
    const char *file; // name of the recording; NULL if there is only one
    const struct TimelineView *view;
    pid_t pid;
    const char *command;
    const char *python; // version
    const char *mode;
    uint64_t threshold;
    // Has Ocular's version, the budget and the filter; NULL: unknown.
    const struct Snapshot *settings;
    uint64_t start_ticks; // time 0 of the file; no event is earlier
    uint64_t start_unix_ns;
    uint64_t start_boot_ns; // CLOCK_BOOTTIME at start_ticks; only for the
                            // binary format
    double hz;
    const struct Opcodes *opcodes; // names
    // Functions that are dark at the end of the timeline.
    struct RecordingDark *dark;
    size_t dark_count;
    int descriptor; // open file to write to; 0 if the path is opened
    const struct Opened *opened; // the file that `descriptor` stands for
    bool overwrite;              // true if an existing file is replaced
    void *context;               // context of `name`
    // Returns false if the name is unknown. The file then has the name
    // "<retired>" for the function.
    bool (*name)(void *context, uint32_t id, struct PerfettoName *name);
    void *watcher; // context of `progress`
    // Called from time to time with the finished part (0 to 1) and the present
    // size of the file. Returns false to cancel. May be NULL.
    bool (*progress)(void *context, double done, uint64_t bytes);
};

struct PerfettoResult {
    uint64_t bytes; // of the file
    uint64_t events;
    // CPU time of the writing thread in ns; set by Export_write.
    uint64_t cpu_ns;
};

#endif
