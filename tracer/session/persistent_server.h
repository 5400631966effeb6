// SPDX-License-Identifier: MIT
// A server that outlives sessions: it listens while nothing is traced, shows
// the session that runs, and listens on after it. Its owner (python/) opens and
// closes it while no session runs; what a session does with it is done by the
// thread that starts or finishes that.
#ifndef OCULAR_TRACER_SESSION_PERSISTENT_SERVER_H
#define OCULAR_TRACER_SESSION_PERSISTENT_SERVER_H

#include "ipc/server.h"

struct PersistentServer {
    struct Server *server; // NULL: closed
    // How many look, at any time, traced or not. On the server's thread, or on
    // one that the server obeys; must not block.
    void (*viewers)(void *context, unsigned count);
    void *context;
};

// 0 or -errno with `why`. `viewers` and `context` are set.
int PersistentServer_open(struct PersistentServer *persistent, char *why,
                          size_t why_size);
void PersistentServer_close(struct PersistentServer *persistent);
// Nothing is to be seen behind it any more. `farewell`: viewers are sent away,
// with the last snapshot; else they wait for the next session's first one.
void PersistentServer_detach(struct PersistentServer *persistent,
                             bool farewell);

#endif
