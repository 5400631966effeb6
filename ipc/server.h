// SPDX-License-Identifier: MIT
// The listening end: one thread ("ocular-server") that accepts viewers, sends
// them snapshots at the rate each wants and hands their requests over. It never
// waits for a viewer: one that does not read skips frames.
#ifndef OCULAR_IPC_SERVER_H
#define OCULAR_IPC_SERVER_H

#include "ipc/source.h"

struct Server;

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
// Another source from now on (copied). `farewell`: viewers get the old source's
// newest snapshot and END, and are disconnected; else they stay, and wait for a
// snapshot of the new one. Its `viewers` gets their number. When this returns,
// the old source is not called any more. Any thread but the server's.
void Server_turn_to(struct Server *server, const struct ServerSource *source,
                    bool farewell);
// All viewers get this ERROR, and are disconnected. Any thread but the
// server's.
void Server_refuse(struct Server *server, int error, const char *why);
// CPU nanoseconds the thread has used so far.
uint64_t Server_cpu_ns(struct Server *server);
// Its thread ends; socket and viewers stay, and wait. Server_resume goes on: 0
// or -errno, then it may be tried again. One thread at a time, the closing one
// among them.
void Server_pause(struct Server *server);
int Server_resume(struct Server *server);
// Joins the thread, sends the newest snapshot and END to everyone, waits at
// most `wait_ms` for them to take it, unlinks the socket, frees.
void Server_close(struct Server *server, unsigned wait_ms);
// After fork, in the child: drops the descriptors and the memory, joins
// nothing, unlinks nothing.
void Server_abandon(struct Server *server);

#endif
