// SPDX-License-Identifier: MIT
// The callbacks by which a server asks for snapshots and hands requests over.
// Filled by tracer/session, called as each of them says.
#ifndef OCULAR_IPC_SOURCE_H
#define OCULAR_IPC_SOURCE_H

#include "ipc/snapshot.h"
#include "ipc/wire.h"

// The part of the tracer that the server needs; called on the server's thread,
// get and put also on the closing one.
struct ServerSource {
    void *context;
    // A viewer is due: have a fresh snapshot published, then call
    // Server_notify(). Must not block. `first`: one of the viewers has seen
    // none yet. It may do nothing: it is called again when the viewer is due
    // next.
    void (*want)(void *context, bool first);
    // The newest snapshot or NULL; held until put, which follows in either
    // case. Short: encoding only.
    const struct Snapshot *(*get)(void *context);
    void (*put)(void *context, const struct Snapshot *snapshot);
    // A request (RATE is answered by the server itself). Must not block:
    // answer now or later, from any thread, with Server_answer(). The file of
    // an EXPORT is closed afterwards: copy it to write to it later.
    void (*request)(void *context, uint64_t viewer,
                    const struct Message *message);
    // The number of viewers that have said hello has changed. Not called any
    // more once Server_close has begun.
    void (*viewers)(void *context, unsigned count);
    // NULL, or a text that a viewer gets at once, because no snapshot is to be
    // had yet (get gives NULL).
    const char *notice;
};

#endif
