// SPDX-License-Identifier: MIT
// struct PersistentServer keeps a server that outlives sessions. While nothing
// is traced, the server waits for viewers. While a session runs, the server
// shows the session. The owner, which is code in python/, opens and closes the
// server while no session runs. The thread that starts a session attaches it to
// the server, and the thread that finishes the session detaches it.
#pragma once

#include "ipc/server.h"

struct PersistentServer {
    struct Server *server; // NULL if the server is closed.
    // A callback that gets the number of viewers, even while nothing is traced.
    // `viewers` is called by the server's thread, or by a thread that gives the
    // server an order. `viewers` must not block.
    void (*viewers)(void *context, unsigned count);
    void *context;
};

// Opens the persistent server. The caller sets `viewers` and `context` before.
// Returns 0, or -errno and a reason in `why`.
int PersistentServer_open(struct PersistentServer *persistent, char *why,
                          size_t why_size);
void PersistentServer_close(struct PersistentServer *persistent);
// Detaches a session from the server before the session ends. If `farewell` is
// true, the viewers get the last snapshot and are disconnected. If `farewell`
// is false, the viewers wait for the first snapshot of the next session.
void PersistentServer_detach(struct PersistentServer *persistent,
                             bool farewell);
