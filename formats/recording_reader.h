// SPDX-License-Identifier: MIT
// Reads a recording and makes the input for writers of a timeline. The file can
// be truncated, damaged or forged by an attacker. The reader finds all parts of
// the file that are intact. A struct RecordingReader may be used by one thread
// only.
#pragma once

#include "ipc/base/bytes.h"
#include "ipc/flame_table.h"
#include "ipc/snapshot.h"
#include "tracer/timeline/recording.h"
#include "tracer/timeline/recording_names.h"
#include "tracer/timeline/trace.h"

struct ReadName {
    uint32_t id;
    uint32_t line;
    uint64_t address;
    // Offsets of the function's name and of its file's name in reader->text.
    size_t name, file;
};

// A chunk, and the state of its thread at the time when the chunk was last
// written.
struct ReadChunk {
    struct TimelineChunk chunk;
    struct TimelineThread thread;
};

// The reader calls `go_on` from time to time. `done` is the fraction of the
// file that has been read, from 0 to 1. If `go_on` returns false, the reader
// stops and returns -ECANCELED.
struct RecordingWatch {
    bool (*go_on)(void *context, double done); // Can be NULL.
    void *context;
};

struct RecordingReader {
    struct RecordingHead head;
    // Input for a writer. The reader sets the callback `name` of `trace`.
    struct PerfettoTrace trace;
    // Number of blocks that are damaged, truncated or missing.
    uint64_t damaged;
    // The newest snapshot of the program, or NULL if there is none.
    struct Snapshot *final;
    // Sequence number of the block with the snapshot `final`.
    uint64_t final_sequence;
    // True if Ocular wrote `final` at the end of tracing. If `ended` is false,
    // `final` was written some seconds before the recording ends, and has only
    // a few functions (total_rows.h).
    bool ended;
    // A snapshot with Ocular's version and the settings. `settings` is NULL if
    // the recording has no snapshot, or if only `final` has these facts.
    struct Snapshot *settings;
    // The sampled stacks of the whole run, or NULL if the recording has no
    // stacks.
    struct FlameTable *stacks;
    // Array of struct RecordingCalls, in the order of the stacks' functions.
    struct Bytes calls;
    struct RecordingWatch watch;
    // The fields from `to_cut` on are for the reader itself. If true, the
    // blocks that were begun after the newest cut (Timeline_cut) are not read.
    bool to_cut;
    // Source of the names that the recording lacks, or NULL.
    const struct RecordingSource *source;
    struct Recording *recording;
    struct TimelineView view;
    struct Bytes chunks; // Array of struct ReadChunk.
    struct Bytes shown;  // Array of pointers to the chunks of `view`.
    // Array of struct TimelineThread, the threads of `view`.
    struct Bytes threads;
    // Array of struct RecordingDark, written at the newest cut.
    struct Bytes dark_now;
    // Array of struct RecordingThread, written at the newest cut.
    struct Bytes listed;
    // Array of struct ReadName, which is sorted by id at the end.
    struct Bytes names;
    // Names of functions and of their files, each with a NUL.
    struct Bytes text;
    struct Bytes data;   // Data of the block that is being read.
    struct Bytes events; // Decoded events of the block that is being read.
    struct Bytes dark;   // Array of struct Darkness (darkness.h).
    struct Opcodes *opcodes;
};

// Opens the recording at `path` and reads it. Returns 0, or -errno with a
// sentence in `why` that names the error. After success, `why` says how many
// blocks of the file are damaged, or is empty.
int RecordingReader_open(struct RecordingReader *reader, const char *path,
                         struct RecordingWatch watch, char *why,
                         size_t why_size);
// Reads a recording that this process is writing, up to the newest cut
// (Timeline_cut). A name can be missing if it was moved during the reading, or
// if there was no room for it. For missing names the reader asks `source`,
// which must live as long as the reader and can be NULL.
int RecordingReader_read(struct RecordingReader *reader,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWatch watch, char *why,
                         size_t why_size);
// Reads only the first page of the file at `path`. Returns 0, or -errno with a
// sentence in `why` that names the error.
int RecordingReader_probe(const char *path, char *why, size_t why_size);
void RecordingReader_close(struct RecordingReader *reader);
// Fills in the facts that the recording contains about its program and about
// the settings of the trace. A fact is null if the recording does not contain
// it, or if memory is out.
void RecordingReader_facts(const struct RecordingReader *reader,
                           struct Snapshot *out);
