// SPDX-License-Identifier: MIT
// The listening end: one thread ("ocular-server") that accepts viewers, sends
// them snapshots at the rate each wants and hands their requests over. It never
// waits for a viewer: one that does not read skips frames.
#ifndef OCULAR_IPC_SERVER_H
#define OCULAR_IPC_SERVER_H

#include "ipc/snapshot.h"
#include "ipc/wire.h"

struct Server;

// What the server needs of the tracer; called on the server's thread, get and
// put also on the closing one.
struct ServerSource {
    void *context;
    // A viewer is due: have a fresh snapshot published, then call
    // Server_notify(). Must not block. `first`: there is one among them who has
    // seen none yet. Doing nothing is fine: it is asked again when he is due
    // next.
    void (*want)(void *context, bool first);
    // The newest snapshot or NULL; held until put, which follows in either
    // case. Short: encoding only.
    const struct Snapshot *(*get)(void *context);
    void (*put)(void *context, const struct Snapshot *snapshot);
    // A request (RATE is answered by the server itself). Must not block:
    // answer now or later, from any thread, with Server_answer(). The file of
    // an EXPORT is closed afterwards: who writes to it later has a copy.
    void (*request)(void *context, uint64_t viewer,
                    const struct Message *message);
    // The number of viewers that have said hello changed. Not called any more
    // once Server_close has begun.
    void (*viewers)(void *context, unsigned count);
    // NULL, or what a viewer is told at once, because no snapshot is to be had
    // yet (get gives NULL).
    const char *notice;
};

// Binds $OCULAR_DIR/PID.sock (address.h) and starts the thread. 0 or -errno
// with `why` in words; a live foreign socket at the path is refused, a stale
// one replaced. The caller owns *server, which is set before the thread starts
// (callbacks may use it at once) and NULL after an error.
int Server_open(struct Server **server, const struct ServerSource *source,
                const char *version, char *why, size_t why_size);
const char *Server_path(const struct Server *server);
// A fresh snapshot is published. Any thread; does not block.
void Server_notify(struct Server *server);
// Sends an answer (a REPLY, an ERROR, a LISTING, STACKS) to one viewer; gone
// viewers are fine. Any thread.
void Server_answer(struct Server *server, uint64_t viewer,
                   const struct Message *answer);
// Another source from now on (copied). `farewell`: those who look get the old
// one's newest snapshot and END, and are out; else they stay, and wait for a
// snapshot of the new one. Its `viewers` is told how many they are. When it
// returns, the old source is not called any more. Any thread but the server's.
void Server_turn_to(struct Server *server, const struct ServerSource *source,
                    bool farewell);
// Everybody gets this ERROR, and is out. Any thread but the server's.
void Server_refuse(struct Server *server, int error, const char *why);
// CPU nanoseconds the thread has used so far.
uint64_t Server_cpu_ns(struct Server *server);
// Its thread ends; socket and viewers stay, and wait. It goes on: 0 or -errno,
// then it may be tried again. One thread at a time, the closing one among them.
void Server_pause(struct Server *server);
int Server_resume(struct Server *server);
// Joins the thread, sends the newest snapshot and END to everyone, waits at
// most `wait_ms` for them to take it, unlinks the socket, frees.
void Server_close(struct Server *server, unsigned wait_ms);
// After fork, in the child: drops the descriptors and the memory, joins
// nothing, unlinks nothing.
void Server_abandon(struct Server *server);

#endif
