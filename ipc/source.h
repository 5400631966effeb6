// SPDX-License-Identifier: MIT
// struct ServerSource has the callbacks by which a server asks for snapshots
// and passes requests to the tracer. The code in tracer/session fills this
// struct.
#pragma once

#include "ipc/snapshot.h"
#include "ipc/wire.h"

// The server's thread calls the callbacks. The thread that closes the server
// also calls `get` and `put`.
struct ServerSource {
    void *context;
    // Called when a viewer's next snapshot is due. The callback makes the
    // tracer publish a new snapshot and call Server_notify(). The callback must
    // not block. `first` is true if a viewer has not had any snapshot yet. The
    // callback may also do nothing, because it is called again when the next
    // snapshot is due.
    void (*want)(void *context, bool first);
    // Returns the newest snapshot or NULL. This snapshot must stay valid until
    // the call of `put`. The server calls `put` after each call of `get`, even
    // if `get` has returned NULL.
    const struct Snapshot *(*get)(void *context);
    void (*put)(void *context, const struct Snapshot *snapshot);
    // Takes a request of the viewer with the number `viewer`. The callback must
    // not block. (The server itself answers the requests RATE, NOW and FOLLOW.)
    // Any thread may answer the request with Server_answer(), at once or later.
    void (*request)(void *context, uint64_t viewer,
                    const struct Message *message);
    // Called when the number of viewers that have sent a HELLO has changed.
    // After Server_close has begun, `viewers` is not called any more.
    void (*viewers)(void *context, unsigned count);
    // A text that each new viewer gets at once while there is no snapshot, that
    // is, while `get` returns NULL. `notice` may be NULL.
    const char *notice;
};
