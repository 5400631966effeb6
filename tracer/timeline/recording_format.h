// SPDX-License-Identifier: MIT
// Defines the format of a recording, which docs/recording.md describes. A
// recording consists of a head, and of blocks that begin at multiples of 256
// bytes. The header of a block contains the number of valid bytes in the block.
// Bytes are written before the number of valid bytes that includes them, so a
// recording is readable even if the process is killed between two writes. All
// numbers in a recording are little-endian, as on all machines on which Ocular
// works.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RECORDING_VERSION 6u
// The first version of the format that has waits.
#define RECORDING_WAITS 5u
// The first version that has snapshots of a program that was killed.
#define RECORDING_TOTALS 6u
// A snapshot has this `sequence` if the trace was stopped.
#define RECORDING_LAST UINT64_MAX
// The oldest version that Ocular can read, which has no settings.
#define RECORDING_OLDEST 3u
#define RECORDING_PAGE UINT64_C(4096) // Size of the head in bytes.
// Blocks begin at multiples of this number of bytes.
#define RECORDING_UNIT UINT64_C(256)
#define RECORDING_MAGIC UINT64_C(0x0a0d72616c75636f) // "ocular\r\n"
#define RECORDING_BLOCK UINT64_C(0x6b636f6c62726c4f) // "Olrblock"
#define RECORDING_SEED UINT64_C(0xcbf29ce484222325)

struct RecordingHead { // The first page of a recording.
    uint64_t magic;
    uint32_t version;
    // 1 if tracing was stopped and this file is the final result, otherwise 0.
    uint32_t ended;
    uint64_t check; // Checksum of all fields after `check`.
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    uint64_t start_boot_ns;
    double hz;
    uint64_t threshold;
    // Number of events, of all threads, that were forgotten because of the
    // limit.
    uint64_t forgotten;
    // Number of lost events of threads that have no block any more.
    uint64_t lost;
    // Ticks at the newest forgotten event, or 0 if there is none.
    uint64_t whole_ticks;
    uint64_t now_ticks; // Ticks at which the head was written.
    uint32_t pid;
    uint32_t spare;
    char mode[16];
    char python[64];
    char command[256];
};

enum RecordingKind {
    RECORDING_CHUNK, // The open calls and then events.
    // A sequence of struct RecordingName.
    RECORDING_NAMES,
    RECORDING_OPCODES, // Names of 256 opcodes, each with its NUL.
    // A snapshot, encoded as for the socket. The snapshot with the highest
    // `sequence` is the newest.
    RECORDING_SNAPSHOT,
    // An array of struct RecordingDark, made by the newest Timeline_cut.
    RECORDING_DARK,
    // An array of struct RecordingThread, sorted by number.
    RECORDING_THREADS,
    // The sampled stacks of the whole run, encoded as for the socket.
    RECORDING_STACKS,
    // An array of struct RecordingCalls, for the functions in the stacks.
    RECORDING_CALLS,
    // A snapshot that has only settings, encoded as for the socket. Only
    // versions before RECORDING_TOTALS have blocks of the kind
    // RECORDING_SETTINGS.
    RECORDING_SETTINGS
};

struct RecordingBlock {
    uint64_t magic; // RECORDING_BLOCK, or 0 if the block was dropped.
    uint64_t check; // Checksum of all fields after `check`.
    uint64_t at;    // Offset of the block in the file.
    // Bytes of the block, with this header and with unused bytes at the end.
    uint64_t size;
    uint64_t used;       // Number of valid bytes after the header.
    uint64_t data_check; // Checksum of the valid bytes after the header.
    // Number of the chunk (block with events) among the thread's chunks, or of
    // the snapshot among the snapshots. Newer chunks and snapshots have higher
    // numbers.
    uint64_t sequence;
    uint32_t kind;
    uint32_t open_count; // Number of open calls at the beginning of a chunk.
    // The thread of a chunk, as it was at the newest write to the block.
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
    // Number of bytes of the function's name with its NUL. The function's name
    // follows the struct.
    uint16_t name_size;
    // Number of bytes of the file's name with its NUL. The file's name follows
    // the function's name, and then comes padding to 8 bytes.
    uint16_t file_size;
    uint32_t spare;
};

// A function without hooks (a dark function), and the time at which it lost
// them.
struct RecordingDark {
    uint64_t ticks;
    uint32_t id;
    uint32_t spare;
};

// The numbers of a function that cannot be computed from samples.
struct RecordingCalls {
    uint64_t id;
    double calls; // Number of calls, or NaN if unknown.
    // ns of CPU time of all samples of the function, or NaN if unknown.
    double self_ns;
};

// Describes a thread of the program at the newest Timeline_cut. A struct
// RecordingThread is newer than the headers of the thread's blocks if their
// `sequence` is lower.
struct RecordingThread {
    uint32_t number;
    uint32_t tid;
    uint64_t sequence; // `sequence` of the thread's next block.
    uint64_t lost;
    uint64_t forgotten;
    char name[64];
};

// Continues the checksum `check` with the data, read in words of eight bytes.
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
