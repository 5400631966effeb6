// SPDX-License-Identifier: MIT
// The callbacks by which a server asks for snapshots and hands requests over.
// tracer/session fills the struct; each comment says when a callback is called.
#ifndef OCULAR_IPC_SOURCE_H
#define OCULAR_IPC_SOURCE_H

#include "ipc/snapshot.h"
#include "ipc/wire.h"

// The part of the tracer that the server needs. The server's thread calls the
// callbacks; the thread that closes the server calls get and put, too.
struct ServerSource {
    void *context;
    // A viewer is due: publish a new snapshot, then call Server_notify(). The
    // callback must not block. `first` says that one of the viewers has not had
    // a snapshot yet. The callback may also do nothing: it is called again when
    // a viewer is due next.
    void (*want)(void *context, bool first);
    // Returns the newest snapshot or NULL. The snapshot must stay valid until
    // put, which is called in either case, after the snapshot is encoded.
    const struct Snapshot *(*get)(void *context);
    void (*put)(void *context, const struct Snapshot *snapshot);
    // Takes a request; the server itself answers RATE, NOW and FOLLOW. The
    // callback must not block: any thread may answer with Server_answer(), now
    // or later. The file of an EXPORT is closed after the call, so duplicate
    // its descriptor to use it later.
    void (*request)(void *context, uint64_t viewer,
                    const struct Message *message);
    // The number of viewers that have said hello has changed. `viewers` is not
    // called any more once Server_close has begun.
    void (*viewers)(void *context, unsigned count);
    // A text that each viewer gets at once, because there is no snapshot yet
    // (get returns NULL); or NULL.
    const char *notice;
};

#endif
