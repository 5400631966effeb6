// SPDX-License-Identifier: MIT
// struct ServerSource contains callbacks, by which the server asks for
// snapshots and passes requests to the tracer. The code in tracer/session fills
// this struct.
#pragma once

#include "ipc/snapshot.h"
#include "ipc/wire.h"

// The server's thread calls the callbacks. The thread that closes the server
// calls `get` and `put`, too.
struct ServerSource {
    void *context;
    // Called when a viewer's next snapshot is due. The callback `want` makes
    // the tracer publish a new snapshot and call Server_notify(). It must not
    // block. `first` is true if a viewer has not had a snapshot yet. `want` may
    // also do nothing, because it is called again when the next snapshot is
    // due.
    void (*want)(void *context, bool first);
    // Returns the newest snapshot, or NULL. The snapshot must stay valid until
    // `put` is called. The server calls `put` after each call of `get`, even if
    // `get` has returned NULL.
    const struct Snapshot *(*get)(void *context);
    void (*put)(void *context, const struct Snapshot *snapshot);
    // Takes a request of the viewer with the number `viewer`. It must not
    // block. (The server itself answers the requests RATE, NOW and FOLLOW.) Any
    // thread may answer the request with Server_answer(), at once or later.
    void (*request)(void *context, uint64_t viewer,
                    const struct Message *message);
    // Called when the number of viewers that have sent a HELLO has changed.
    // `viewers` is not called any more after Server_close has begun.
    void (*viewers)(void *context, unsigned count);
    // A text that a new viewer gets at once if there is no snapshot, that is,
    // if `get` returns NULL. `notice` may be NULL.
    const char *notice;
};
