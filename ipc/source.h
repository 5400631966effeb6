// SPDX-License-Identifier: MIT
// struct ServerSource has the callbacks by which a server asks for snapshots
// and passes requests to the tracer. tracer/session fills struct ServerSource.
#ifndef OCULAR_IPC_SOURCE_H
#define OCULAR_IPC_SOURCE_H

#include "ipc/snapshot.h"
#include "ipc/wire.h"

// The server's thread calls the callbacks. The thread that closes the server
// also calls `get` and `put`.
struct ServerSource {
    void *context;
    // Called when the time for a viewer's next snapshot has come. The callback
    // makes the tracer publish a new snapshot and call Server_notify(). The
    // callback must not block. `first` means that a viewer has not had any
    // snapshot yet. The callback may also do nothing, because it is called
    // again when a viewer is due next.
    void (*want)(void *context, bool first);
    // Returns the newest snapshot or NULL. The snapshot must stay valid until
    // the call of `put`. The server calls `put` after each call of `get`, also
    // if `get` has returned NULL.
    const struct Snapshot *(*get)(void *context);
    void (*put)(void *context, const struct Snapshot *snapshot);
    // Takes a request. (The server itself answers RATE, NOW and FOLLOW.) The
    // callback must not block. Any thread may answer with Server_answer(), at
    // once or later.
    void (*request)(void *context, uint64_t viewer,
                    const struct Message *message);
    // Called when the number of viewers that have said hello has changed. After
    // Server_close has begun, `viewers` is not called any more.
    void (*viewers)(void *context, unsigned count);
    // A text that each new viewer gets at once, while there is no snapshot
    // (`get` returns NULL); or NULL.
    const char *notice;
};

#endif
