// SPDX-License-Identifier: MIT
// struct Server has one thread ("ocular-server"). The server's thread accepts
// viewers, sends snapshots to each viewer at the viewer's rate, and hands
// requests to the source. The server's thread never waits for a viewer. If a
// viewer does not read, it misses snapshots.
#pragma once

#include "ipc/source.h"

struct Server;

// Binds $OCULAR_DIR/PID.sock (address.h) and starts the thread. Fails if
// another process listens at the socket's path, but replaces a socket at which
// no process listens. Returns 0 or -errno. After an error `why` has an
// explanation and *server is NULL. The caller owns the new server. *server is
// set before the thread starts, because the source's callbacks may use it at
// once.
int Server_open(struct Server **server, const struct ServerSource *source,
                const char *version, char *why, size_t why_size);
const char *Server_path(const struct Server *server);
// Tells the server that a new snapshot was published. Any thread may call this
// function, which does not block.
void Server_notify(struct Server *server);
// Sends an answer (a REPLY, an ERROR, a LISTING, STACKS, a RECORDING) to one
// viewer. If the viewer is gone, does nothing. Takes over the answer's file
// descriptor. Any thread may call this function.
void Server_answer(struct Server *server, uint64_t viewer,
                   const struct Message *answer);
// Replaces the server's source by a copy of *source. If `farewell` is true,
// each viewer gets the old source's newest snapshot and END, and is
// disconnected. If `farewell` is false, the viewers stay connected and wait for
// a snapshot of the new source. Calls the new source's `viewers` with the
// number of viewers. After Server_turn_to has returned, the old source is not
// called any more. Any thread except the server's thread may call this
// function.
void Server_turn_to(struct Server *server, const struct ServerSource *source,
                    bool farewell);
// Sends an ERROR to all viewers and disconnects them. Any thread except the
// server's thread may call this function.
void Server_refuse(struct Server *server, int error, const char *why);
// Returns the CPU time in ns that the server's thread has used so far.
uint64_t Server_cpu_ns(struct Server *server);
// Server_pause stops the server's thread. The socket stays open and the viewers
// stay connected. Server_resume starts the thread again and returns 0 or
// -errno. After an error, Server_resume may be called again. Only one thread at
// a time may call Server_pause, Server_resume and Server_close.
void Server_pause(struct Server *server);
int Server_resume(struct Server *server);
// Joins the thread, sends the newest snapshot and END to every viewer, waits
// for at most `wait_ms` milliseconds until they are sent, unlinks the socket
// and frees the server.
void Server_close(struct Server *server, unsigned wait_ms);
// Closes the server's descriptors and frees its memory in a forked child.
// Server_abandon joins no thread and removes no file.
void Server_abandon(struct Server *server);
