// SPDX-License-Identifier: MIT
// Defines the format of a recording (docs/recording.md). A recording has a
// head, and blocks that begin at multiples of 256 bytes. The header of a block
// holds the number of valid bytes. Bytes are appended before that number is
// written, so a process may be killed between any two writes. All numbers are
// little-endian, as on all machines on which Ocular works.
#ifndef OCULAR_TRACER_TIMELINE_RECORDING_FORMAT_H
#define OCULAR_TRACER_TIMELINE_RECORDING_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define RECORDING_VERSION 4u
#define RECORDING_OLDEST 3u // version without settings, which is read as well
#define RECORDING_PAGE UINT64_C(4096) // the size of the head
#define RECORDING_UNIT UINT64_C(256) // blocks begin at multiples of this number
#define RECORDING_MAGIC UINT64_C(0x0a0d72616c75636f) // "ocular\r\n"
#define RECORDING_BLOCK UINT64_C(0x6b636f6c62726c4f) // "Olrblock"
#define RECORDING_SEED UINT64_C(0xcbf29ce484222325)

struct RecordingHead { // the first page
    uint64_t magic;
    uint32_t version;
    uint32_t ended; // 1 if tracing was stopped and this file is the result
    uint64_t check; // checksum of all fields that follow
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    uint64_t start_boot_ns;
    double hz;
    uint64_t threshold;
    uint64_t forgotten;   // number of forgotten events of all threads
    uint64_t lost;        // lost events of threads that have no block any more
    uint64_t whole_ticks; // time of the newest forgotten event
    uint64_t now_ticks;   // time at which the head was written
    uint32_t pid;
    uint32_t spare;
    char mode[16];
    char python[64];
    char command[256];
};

enum RecordingKind {
    RECORDING_CHUNK,    // open calls, then events.
    RECORDING_NAMES,    // struct RecordingName, one after the other.
    RECORDING_OPCODES,  // 256 names, each with its NUL.
    RECORDING_SNAPSHOT, // the last snapshot, encoded as for the socket.
    RECORDING_DARK,     // array of struct RecordingDark, of the newest cut.
    RECORDING_THREADS,  // array of struct RecordingThread, sorted by number
    // The sampled stacks of the whole run, encoded as for the socket.
    RECORDING_STACKS,
    RECORDING_CALLS, // array of struct RecordingCalls, of the stacks' functions
    RECORDING_SETTINGS // snapshot that has only settings, encoded likewise
};

struct RecordingBlock {
    uint64_t magic; // 0 if the block was dropped
    uint64_t check; // checksum of all fields that follow.
    uint64_t at;    // offset of the block in the file.
    uint64_t size;  // bytes, including this header and unused bytes at the end.
    uint64_t used;  // number of valid bytes after the header.
    uint64_t data_check; // checksum of the valid bytes
    uint64_t sequence;   // number that orders the chunks of a thread
    uint32_t kind;
    uint32_t open_count; // number of open calls of a chunk
    // The chunk's thread, as it was when the block was written to.
    uint32_t thread;
    uint32_t tid;
    uint64_t lost;
    uint64_t forgotten;
    uint64_t spare;
    char name[64];
};

struct RecordingName {
    uint32_t id;
    uint32_t line;
    uint64_t address;
    uint16_t name_size; // bytes of the name with its NUL, after this struct
    uint16_t file_size; // bytes of the file's name, and then padding to 8 bytes
    uint32_t spare;
};

// A function that is dark, and the time at which it went dark.
struct RecordingDark {
    uint64_t ticks;
    uint32_t id;
    uint32_t spare;
};

// Has the numbers of a function that samples do not give.
struct RecordingCalls {
    uint64_t id;
    double calls;   // NaN if unknown
    double self_ns; // CPU time of all its samples; NaN if unknown
};

// Describes a thread. This data is newer than the header of the thread's blocks
// whose sequence is lower.
struct RecordingThread {
    uint32_t number;
    uint32_t tid;
    uint64_t sequence; // sequence of the thread's next block
    uint64_t lost;
    uint64_t forgotten;
    char name[64];
};

// Continues the checksum `check` with the words of eight bytes at `data`.
static inline uint64_t Recording_check(uint64_t check, const void *data,
                                       size_t size)
{
    const char *from = data;
    uint64_t word;
    size_t i;

    for (i = 0; i + sizeof word <= size; i += sizeof word) {
        __builtin_memcpy(&word, from + i, sizeof word);
        check = (check ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        check ^= check >> 29;
    }
    return check;
}

static inline uint64_t RecordingHead_check(const struct RecordingHead *head)
{
    return Recording_check(RECORDING_SEED, &head->start_ticks,
                           sizeof *head -
                               offsetof(struct RecordingHead, start_ticks));
}

static inline uint64_t RecordingBlock_check(const struct RecordingBlock *block)
{
    return Recording_check(RECORDING_SEED, &block->at,
                           sizeof *block - offsetof(struct RecordingBlock, at));
}

_Static_assert(sizeof(struct RecordingHead) % 8 == 0 &&
                   sizeof(struct RecordingBlock) % 16 == 0 &&
                   sizeof(struct RecordingName) % 8 == 0 &&
                   sizeof(struct RecordingThread) % 8 == 0,
               "events stand at multiples of their size");

#endif
