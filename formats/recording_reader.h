// SPDX-License-Identifier: MIT
// Reads a recording: whatever is whole in a file that may be torn, truncated,
// damaged or made up by an enemy. Gives what the writers of a timeline take.
// One thread, of a program that is not traced.
#ifndef OCULAR_FORMATS_RECORDING_READER_H
#define OCULAR_FORMATS_RECORDING_READER_H

#include "ipc/base/bytes.h"
#include "ipc/snapshot.h"
#include "tracer/timeline/trace.h"
#include "tracer/timeline/view_builder.h"

struct ReadName {
    uint32_t id;
    uint32_t line;
    uint64_t address;
    size_t name, file; // where they are in the text
};

// A chunk, and its thread as it was when the chunk was written.
struct ReadChunk {
    struct Chunk *chunk;
    struct TimelineThread thread;
};

// Called now and then while a file is read; false ends that with -ECANCELED.
struct RecordingWatch {
    bool (*go_on)(void *context, double done); // NULL: nobody watches
    void *context;
};

struct RecordingReader {
    struct RecordingHead head;
    struct PerfettoTrace trace; // for a writer; `name` is set
    uint64_t damaged;           // blocks that were left out
    struct Snapshot *final;     // of a trace that was stopped; or NULL
    struct RecordingWatch watch;
    // The reader's own.
    struct Recording *recording;
    struct Bytes chunks; // struct ReadChunk, until they are in the view
    struct Bytes names;  // struct ReadName, by id in the end
    struct Bytes text;
    struct Bytes data;   // of the block that is being read,
    struct Bytes events; // and those that are in it
    struct Bytes dark;   // darkness.h
    struct Opcodes *opcodes;
};

// 0 or -errno with a sentence that says what is wrong. Of a file that is read
// by then `why` says what was left out of it, or is "".
int RecordingReader_open(struct RecordingReader *reader, const char *path,
                         char *why, size_t why_size);
int RecordingReader_open_watched(struct RecordingReader *reader,
                                 const char *path, struct RecordingWatch watch,
                                 char *why, size_t why_size);
// The same of its first page alone.
int RecordingReader_probe(const char *path, char *why, size_t why_size);
void RecordingReader_close(struct RecordingReader *reader);

#endif
