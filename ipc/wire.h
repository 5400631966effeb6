// SPDX-License-Identifier: MIT
// wire.c encodes and decodes the messages between a traced process and its
// viewers. A message is a little-endian, length-prefixed, versioned frame
// (docs/protocol.md). The functions are pure.
#ifndef OCULAR_IPC_WIRE_H
#define OCULAR_IPC_WIRE_H

#include "ipc/base/bytes.h"
#include "ipc/changes.h"
#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_MAX_FRAME (64u << 20)   // maximum bytes from process to viewer
#define WIRE_MAX_REQUEST (64u << 10) // maximum bytes from viewer to process

enum MessageType {
    // process -> viewer
    MESSAGE_HELLO = 1, // the first message, in both directions
    MESSAGE_SNAPSHOT = 2,
    MESSAGE_REPLY = 3,   // a request is done, or is being done
    MESSAGE_ERROR = 4,   // a request failed; has an explanation
    MESSAGE_END = 5,     // tracing ends; sent after the last snapshot
    MESSAGE_NOTICE = 6,  // the reason why there is no snapshot yet
    MESSAGE_LISTING = 7, // the answer to DETAIL: the code of one function
    MESSAGE_STACKS = 8,  // the answer to FLAME: sampled stacks
    MESSAGE_CHANGES = 9, // the differences of two snapshots
    // The answer to HANDOUT, which comes with a descriptor of the recording.
    MESSAGE_RECORDING = 10,
    // viewer -> process
    MESSAGE_RATE = 16,   // seconds between snapshots (0.1 .. 60)
    MESSAGE_DETAIL = 17, // asks for the code of the function with this id
    MESSAGE_REARM = 18,  // id of a function to arm again; 0: all functions
    MESSAGE_BUDGET = 19, // share of CPU time that may be used
    // Always refused, because only older versions let the process open the
    // file.
    MESSAGE_EXPORT_PATH = 20,
    MESSAGE_CANCEL = 21, // stops the EXPORT that is under way; see EXPORT
    MESSAGE_FLAME = 22,  // asks for the stacks of the window
    // Asks for a timeline in a file. The message has the name of the file, and
    // comes with the file's descriptor. Only older processes write the file.
    MESSAGE_EXPORT = 23,
    MESSAGE_NOW = 24,     // asks for a snapshot at once
    MESSAGE_FOLLOW = 25,  // asks for a SNAPSHOT, and then for CHANGES
    MESSAGE_HANDOUT = 26, // asks for the recording (enum HandoutKind)
    // Asks for asyncio's tasks in the snapshots of the next seconds.
    MESSAGE_TASKS = 27
};

// A HANDOUT asks for one of these recordings.
enum HandoutKind {
    HANDOUT_TIMELINE, // the recording of the timeline up to now
    HANDOUT_STACKS    // a recording with the sampled stacks of the whole run
};

// One decoded message. The text is NUL-terminated and owned by the message.
// Members that the type does not use are zero.
struct Message {
    enum MessageType type;
    uint32_t request; // the viewer's number, which the answer repeats
    uint32_t version; // HELLO: the version of the protocol
    // HELLO: pid. DETAIL, REARM: function id. REPLY: bytes written. ERROR:
    // errno. HANDOUT: enum HandoutKind. RECORDING: bytes of the recording.
    uint64_t number;
    // EXPORT, RECORDING: the descriptor of the file, which is not part of the
    // bytes and not owned; 0: no file.
    int descriptor;
    // RATE: seconds. BUDGET: share of CPU time. REPLY: progress from 0 to 1.
    // REPLY to NOW: seconds until the snapshot is made. RECORDING: seconds for
    // which the process keeps the recording as it is; 0: for ever.
    double value;
    // Freed by Heap_free(). HELLO: version of Ocular. EXPORT, REPLY: name of
    // the file. ERROR: what went wrong and what to do. NOTICE: why there is no
    // snapshot yet. RECORDING: what it lacks.
    char *text;
    struct Snapshot *snapshot; // SNAPSHOT, CHANGES; owned
    // CHANGES; owned. The snapshot of CHANGES has only the functions that have
    // changed.
    struct Changes *changes;
    struct Listing *listing;   // LISTING; owned
    struct FlameTable *stacks; // STACKS; owned
};

// Appends one whole frame, or nothing. Returns 0, -ENOMEM, -EMSGSIZE if the
// frame exceeds the limit, or -EINVAL if a SNAPSHOT, CHANGES, LISTING or STACKS
// lacks its record.
int Message_encode(struct Bytes *out, const struct Message *message);
// Decodes the first frame of `data`. Fills *message and returns the number of
// bytes used. The caller releases *message. Returns 0 if the frame is not
// complete, -EPROTO if the bytes are damaged or not our protocol, -EMSGSIZE if
// the frame exceeds `limit`, or -ENOMEM. If the type is unknown, only the type
// and the request number are set. If the result is 0 or an error, *message owns
// nothing.
long Message_decode(struct Message *message, const void *data, size_t size,
                    size_t limit);
void Message_release(struct Message *message);

#endif
