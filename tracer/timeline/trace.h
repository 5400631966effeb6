// SPDX-License-Identifier: MIT
// The input of a trace file: a frozen timeline, and the data about it. Export
// fills it in; perfetto.c and the formats read it.
#ifndef OCULAR_TRACER_TIMELINE_TRACE_H
#define OCULAR_TRACER_TIMELINE_TRACE_H

#include "tracer/base/opcode.h"
#include "tracer/timeline/recording_format.h"
#include "tracer/timeline/view.h"

// The name of a function id. Text is borrowed until the next call.
struct PerfettoName {
    const char *name;
    const char *file;
    uint32_t line;
    uintptr_t address;
};

struct PerfettoTrace {
    // Trace of another process for the same file, or NULL.
    const struct PerfettoTrace *next;
    const char *file; // name of the recording; NULL if there is only one
    const struct TimelineView *view;
    pid_t pid;
    const char *command;
    const char *python; // version
    const char *mode;
    uint64_t threshold;
    uint64_t start_ticks; // ts 0; nothing in the trace is earlier
    uint64_t start_unix_ns;
    uint64_t start_boot_ns; // CLOCK_BOOTTIME at the same moment; binary only
    double hz;
    const struct Opcodes *opcodes; // names
    struct RecordingDark
        *dark; // those of that moment; whoever exports frees it
    size_t dark_count;
    uint64_t dark_ticks; // the moment
    int descriptor;      // of an open file to write to; 0: the one at the path
    const struct Opened *opened; // which file that is
    bool overwrite;              // what is at the path when it is written
    void *context;               // of `name`
    // false: unknown (written as "<retired>").
    bool (*name)(void *context, uint32_t id, struct PerfettoName *name);
    void *watcher; // of `progress`
    // Called now and then with 0..1 and the bytes of the file so far; false
    // cancels. May be NULL.
    bool (*progress)(void *context, double done, uint64_t bytes);
};

struct PerfettoResult {
    uint64_t bytes; // of the file
    uint64_t events;
    uint64_t cpu_ns; // ns of the writing thread's CPU time; Export_write's
};

#endif
