// SPDX-License-Identifier: MIT
// Encodes and decodes the messages between a traced process and its viewers. A
// message is a little-endian, length-prefixed, versioned frame
// (docs/protocol.md). The functions are pure.
#pragma once

#include "ipc/base/bytes.h"
#include "ipc/changes.h"
#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

#include <stdint.h>

#define WIRE_VERSION 1
// Maximum bytes of a message from the process to a viewer.
#define WIRE_MAX_FRAME (64u << 20)
// Maximum bytes of a message from a viewer to the process.
#define WIRE_MAX_REQUEST (64u << 10)

enum MessageType {
    // Messages from the process to the viewer. The first message in both
    // directions. HELLO tells each side the other's version.
    MESSAGE_HELLO = 1,
    MESSAGE_SNAPSHOT = 2,
    MESSAGE_REPLY = 3, // Says that a request is done or is being done.
    MESSAGE_ERROR = 4, // Says that a request has failed, and why.
    // Says that tracing ends. END comes after the last snapshot.
    MESSAGE_END = 5,
    MESSAGE_NOTICE = 6, // Says why there is no snapshot for the viewer yet.
    // Answers DETAIL with the instructions of one function.
    MESSAGE_LISTING = 7,
    MESSAGE_STACKS = 8,  // Answers FLAME with the sampled stacks.
    MESSAGE_CHANGES = 9, // Contains the differences between two snapshots.
    // Answers HANDOUT. RECORDING comes with a descriptor of the recording.
    MESSAGE_RECORDING = 10,
    // Messages from the viewer to the process.
    MESSAGE_RATE = 16, // Sets the seconds between two snapshots (0.1 .. 60).
    // Asks for the instructions of the function with this id.
    MESSAGE_DETAIL = 17,
    // Asks for the hooks of the function with this id to be installed again
    // (re-armed); 0 stands for all functions.
    MESSAGE_REARM = 18,
    MESSAGE_BUDGET = 19, // Sets the share of CPU time that Ocular may use.
    // Always refused, because only older versions of Ocular let the process
    // open the file.
    MESSAGE_EXPORT_PATH = 20,
    MESSAGE_CANCEL = 21, // Stops the running EXPORT.
    // Asks for the stacks that samples have found in the newest seconds.
    MESSAGE_FLAME = 22,
    // Asks the process to write a timeline into a file. EXPORT contains the
    // name of the file and comes with its descriptor. Only older versions of
    // Ocular write the file.
    MESSAGE_EXPORT = 23,
    MESSAGE_NOW = 24,     // Asks for a snapshot at once.
    MESSAGE_FOLLOW = 25,  // Asks for one SNAPSHOT, and for CHANGES after that.
    MESSAGE_HANDOUT = 26, // Asks for a recording (enum HandoutKind).
    // Asks for asyncio's tasks in the snapshots of the next seconds.
    MESSAGE_TASKS = 27,
    // Asks for the same as TASKS, and also for the single tasks of a group. The
    // request's number is the TaskGroup_key() of the group.
    MESSAGE_TASK_GROUP = 28,
    // Asks for the C functions below Python functions in the stacks and
    // listings of the next seconds.
    MESSAGE_NATIVE = 29,
    // Asks for the births and deaths of objects in the snapshots of the next
    // seconds.
    MESSAGE_OBJECTS = 30,
    // Asks for the hottest lines in the snapshots of the next seconds.
    MESSAGE_LINES = 31,
    // Asks for the calls of the function with this id by their latencies
    // (struct LatencyCounts), in all snapshots from now on.
    MESSAGE_LATENCIES = 32
};

// The recordings that a HANDOUT can ask for.
enum HandoutKind {
    HANDOUT_TIMELINE, // A recording of the timeline up to now.
    HANDOUT_STACKS    // A recording of the sampled stacks of the whole run.
};

// One decoded message. The message owns its text, which ends with a NUL.
// Members that the message's type does not use are zero.
struct Message {
    enum MessageType type;
    // Number that the viewer gives to a request. The answer to a request
    // contains the same number.
    uint32_t request;
    uint32_t version; // HELLO: the version of the protocol.
    // HELLO: pid. DETAIL, REARM, LATENCIES: id of a function. REPLY: bytes
    // written. ERROR: errno. HANDOUT: enum HandoutKind. RECORDING: bytes of the
    // recording.
    uint64_t number;
    // EXPORT, RECORDING: the descriptor of the file; 0 if there is none. The
    // descriptor is not one of the message's bytes, and the message does not
    // own it.
    int descriptor;
    // RATE: seconds. BUDGET: share of CPU time. REPLY: progress from 0 to 1.
    // REPLY to NOW: seconds until the snapshot is made. RECORDING: seconds for
    // which the process keeps the recording as it is; 0 means for ever.
    double value;
    // HELLO: version of Ocular. EXPORT, REPLY: name of the file. ERROR: what
    // went wrong and what the user can do. NOTICE: why there is no snapshot
    // yet. RECORDING: what the recording lacks. Message_release frees the text
    // by Heap_free().
    char *text;
    // SNAPSHOT, CHANGES. The message owns the snapshot. The snapshot of a
    // message CHANGES contains only the functions that have changed.
    struct Snapshot *snapshot;
    // CHANGES. The message owns the changes.
    struct Changes *changes;
    struct Listing *listing;   // LISTING. The message owns the listing.
    struct FlameTable *stacks; // STACKS. The message owns the table.
};

// Appends one whole frame, or nothing. Returns 0, -ENOMEM, -EMSGSIZE if the
// frame exceeds the limit, or -EINVAL if a SNAPSHOT, CHANGES, LISTING or STACKS
// lacks its record.
int Message_encode(struct Bytes *out, const struct Message *message);
// Decodes the first frame of `data`. Fills *message and returns the number of
// bytes that were used. The caller releases *message. Returns 0 if the frame is
// not complete, -EPROTO if the bytes are damaged or not Ocular's protocol,
// -EMSGSIZE if the frame exceeds `limit`, or -ENOMEM. If the type is unknown,
// only the type and the request number are set. *message owns nothing if the
// result is 0 or an error.
long Message_decode(struct Message *message, const void *data, size_t size,
                    size_t limit);
void Message_release(struct Message *message);
