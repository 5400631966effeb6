// SPDX-License-Identifier: MIT
// The messages between a traced process and its viewers, and their encoding:
// little-endian, length-prefixed, versioned frames (docs/protocol.md). Pure
// functions over bytes: no socket, no thread.
#ifndef OCULAR_IPC_WIRE_H
#define OCULAR_IPC_WIRE_H

#include "ipc/base/bytes.h"
#include "ipc/changes.h"
#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_MAX_FRAME (64u << 20)   // bytes from a process to a viewer
#define WIRE_MAX_REQUEST (64u << 10) // bytes from a viewer to a process

enum MessageType {
    // process -> viewer
    MESSAGE_HELLO = 1, // first on every connection, both ways
    MESSAGE_SNAPSHOT = 2,
    MESSAGE_REPLY = 3,   // a request is done (or, with progress, under way)
    MESSAGE_ERROR = 4,   // a request failed, in words
    MESSAGE_END = 5,     // tracing ends; the last snapshot came before
    MESSAGE_NOTICE = 6,  // why there is no snapshot yet, in words
    MESSAGE_LISTING = 7, // one function's code: the answer to DETAIL
    MESSAGE_STACKS = 8,  // where CPU time goes: the answer to FLAME
    MESSAGE_CHANGES = 9, // a snapshot, by what has changed since the one before
    // viewer -> process
    MESSAGE_RATE = 16,        // seconds between snapshots (0.1 .. 60)
    MESSAGE_DETAIL = 17,      // one function's code: function id
    MESSAGE_REARM = 18,       // function id, 0 = all
    MESSAGE_BUDGET = 19,      // share of CPU time
    MESSAGE_EXPORT_PATH = 20, // older viewers': had us open the file; refused
    MESSAGE_CANCEL = 21,      // stop the export that is under way
    MESSAGE_FLAME = 22,       // the stacks of the window
    MESSAGE_EXPORT = 23,      // write the timeline to a file: its name; the
                              // descriptor goes along
    MESSAGE_NOW = 24,         // a snapshot at once, not when one is due
    MESSAGE_FOLLOW = 25       // one more SNAPSHOT, and CHANGES from then on
};

// One decoded message. Text is NUL-terminated and owned by the message;
// members that a type does not use are zero.
struct Message {
    enum MessageType type;
    uint32_t request; // the viewer's number; a reply or error repeats it
    uint32_t version; // HELLO: protocol version of the sender
    uint64_t number;  // HELLO: pid; DETAIL, REARM: function id;
                      // REPLY: bytes written; ERROR: errno
    int descriptor;   // EXPORT: the file that goes along, not part of the
                      // bytes; borrowed; 0 = none
    double value;     // RATE: s; BUDGET: share; REPLY: progress 0..1; to NOW:
                      // s until the snapshot is made
    char *text; // for Heap_free(). HELLO: version; EXPORT, REPLY: its name;
                // ERROR: what went wrong and what to do;
                // NOTICE: what it waits for
    struct Snapshot *snapshot; // SNAPSHOT, CHANGES; owned
    struct Changes *changes;   // CHANGES: its snapshot has only the functions
                               // that have changed; owned
    struct Listing *listing;   // LISTING; owned
    struct FlameTable *stacks; // STACKS; owned
};

// Appends one whole frame, or nothing: 0, -ENOMEM, -EMSGSIZE (over the limit),
// -EINVAL (a SNAPSHOT, CHANGES, LISTING or STACKS without one).
int Message_encode(struct Bytes *out, const struct Message *message);
// Decodes the first frame of data. >0: bytes used, *message is filled and must
// be released. 0: not yet a whole frame. -EPROTO: not our protocol or damaged;
// -EMSGSIZE: longer than limit; -ENOMEM. A message type that is not known
// decodes with its type and request numbers, nothing else. On 0 and errors
// *message owns nothing.
long Message_decode(struct Message *message, const void *data, size_t size,
                    size_t limit);
void Message_release(struct Message *message);

#endif
