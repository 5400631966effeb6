// SPDX-License-Identifier: MIT
// Reads a recording and makes the input for the writers of a timeline. The file
// may be truncated, damaged or forged by an attacker. The reader returns all
// parts of the file that are intact. One thread uses a reader. The thread's
// program is not traced.
#ifndef OCULAR_FORMATS_RECORDING_READER_H
#define OCULAR_FORMATS_RECORDING_READER_H

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
    size_t name, file; // offsets of both texts in reader->text
};

// Holds a chunk, and the state of the chunk's thread at the time of writing.
struct ReadChunk {
    struct TimelineChunk chunk;
    struct TimelineThread thread;
};

// The reader calls `go_on` from time to time. `done` is the part of the file
// that has been read, from 0 to 1. If `go_on` returns false, the reading ends
// with -ECANCELED.
struct RecordingWatch {
    bool (*go_on)(void *context, double done); // may be NULL
    void *context;
};

struct RecordingReader {
    struct RecordingHead head;
    struct PerfettoTrace trace; // input for a writer; `name` is set
    uint64_t damaged; // number of damaged, truncated or missing blocks
    // The final snapshot, which a stopped trace has written; NULL: there is
    // none.
    struct Snapshot *final;
    // Has Ocular's version and the settings; NULL: the recording lacks them.
    struct Snapshot *settings;
    // The sampled stacks of the whole run; NULL: there are none.
    struct FlameTable *stacks;
    struct Bytes calls; // struct RecordingCalls each, in the stacks' order
    struct RecordingWatch watch;
    // Only the reader itself uses this field and all next fields.
    bool to_cut; // leave out the blocks that were begun after the newest cut
    const struct RecordingSource *source; // names that the recording lacks
    struct Recording *recording;
    struct TimelineView view;
    struct Bytes chunks;   // struct ReadChunk each
    struct Bytes shown;    // struct TimelineChunk * each; the chunks of `view`
    struct Bytes threads;  // struct TimelineThread each; the threads of `view`
    struct Bytes dark_now; // struct RecordingDark each, of the newest cut
    struct Bytes listed;   // struct RecordingThread each, of the newest cut
    struct Bytes names;    // struct ReadName each; sorted by id at the end
    struct Bytes text;     // names and files of functions, each with a NUL.
    struct Bytes data;     // data of the block that is being read
    struct Bytes events;   // decoded events of the block that is being read
    struct Bytes dark;     // struct Darkness each (darkness.h)
    struct Opcodes *opcodes;
};

// Opens and reads a recording. Returns 0, or -errno with a sentence in `why`
// that names the error. After success, `why` says how many blocks of the file
// are damaged, or is empty.
int RecordingReader_open(struct RecordingReader *reader, const char *path,
                         struct RecordingWatch watch, char *why,
                         size_t why_size);
// Reads a recording that this process is writing, up to the newest cut
// (Timeline_cut). Names may have moved meanwhile, or may have had no room, so
// the reader looks for a missing name in `source` (may be NULL), which must
// live as long as the reader.
int RecordingReader_read(struct RecordingReader *reader,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWatch watch, char *why,
                         size_t why_size);
// Reads only the first page of a file. Returns 0, or -errno with a sentence in
// `why` that names the error.
int RecordingReader_probe(const char *path, char *why, size_t why_size);
void RecordingReader_close(struct RecordingReader *reader);

#endif
