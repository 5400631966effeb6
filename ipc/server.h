// SPDX-License-Identifier: MIT
// The listening end: one thread ("ocular-server") that accepts viewers, sends
// each viewer snapshots at its own rate, and hands requests to the source. The
// thread never waits for a viewer: a viewer that does not read misses
// snapshots.
#ifndef OCULAR_IPC_SERVER_H
#define OCULAR_IPC_SERVER_H

#include "ipc/source.h"

struct Server;

// Binds $OCULAR_DIR/PID.sock (address.h) and starts the thread. A live socket
// of another process at this path is an error; a stale socket is replaced.
// Returns 0 or -errno with `why` in words. The caller owns *server. *server is
// set before the thread starts, since callbacks may use it at once, and is NULL
// after an error.
int Server_open(struct Server **server, const struct ServerSource *source,
                const char *version, char *why, size_t why_size);
const char *Server_path(const struct Server *server);
// Says that a new snapshot is published. Any thread may call this; it does not
// block.
void Server_notify(struct Server *server);
// Sends an answer (a REPLY, an ERROR, a LISTING, STACKS) to one viewer, or does
// nothing if the viewer is gone. Any thread may call this.
void Server_answer(struct Server *server, uint64_t viewer,
                   const struct Message *answer);
// Replaces the source by a copy of *source. If `farewell` is set, each viewer
// gets the old source's newest snapshot and END, and is disconnected. Otherwise
// the viewers stay and wait for a snapshot of the new source. The new source's
// `viewers` is called with their number. Once this function returns, the old
// source is not called any more. Any thread but the server's may call this.
void Server_turn_to(struct Server *server, const struct ServerSource *source,
                    bool farewell);
// Sends an ERROR to all viewers and disconnects them. Any thread but the
// server's may call this.
void Server_refuse(struct Server *server, int error, const char *why);
// Returns the CPU time in ns that the server's thread has used so far.
uint64_t Server_cpu_ns(struct Server *server);
// Server_pause ends the thread; the socket and the viewers stay connected and
// wait. Server_resume starts a thread again and returns 0 or -errno; after an
// error it may be called again. Only one thread at a time may call
// Server_pause, Server_resume and Server_close.
void Server_pause(struct Server *server);
int Server_resume(struct Server *server);
// Joins the thread, sends the newest snapshot and END to every viewer, waits at
// most `wait_ms` until they are sent, unlinks the socket and frees the server.
void Server_close(struct Server *server, unsigned wait_ms);
// Closes the descriptors and frees the memory in a forked child. This function
// joins no thread and removes no file.
void Server_abandon(struct Server *server);

#endif
