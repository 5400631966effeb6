// SPDX-License-Identifier: MIT
// A server that outlives sessions. The server listens while nothing is traced,
// shows a session while it runs, and goes on listening after it. The owner
// (python/) opens and closes the server while no session runs. The thread that
// starts or finishes a session attaches and detaches it.
#ifndef OCULAR_TRACER_SESSION_PERSISTENT_SERVER_H
#define OCULAR_TRACER_SESSION_PERSISTENT_SERVER_H

#include "ipc/server.h"

struct PersistentServer {
    struct Server *server; // NULL: closed
    // Reports the number of viewers, also while nothing is traced. `viewers` is
    // called on the server's thread, or on a thread that gives the server an
    // order. `viewers` must not block.
    void (*viewers)(void *context, unsigned count);
    void *context;
};

// Opens the server; `viewers` and `context` are set before. Returns 0 or -errno
// with `why`.
int PersistentServer_open(struct PersistentServer *persistent, char *why,
                          size_t why_size);
void PersistentServer_close(struct PersistentServer *persistent);
// Detaches the session that ends. With `farewell`, viewers get the last
// snapshot and are disconnected. Otherwise viewers wait for the first snapshot
// of the next session.
void PersistentServer_detach(struct PersistentServer *persistent,
                             bool farewell);

#endif
