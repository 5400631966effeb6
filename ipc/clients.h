// SPDX-License-Identifier: MIT
// All viewers of a server: admission, the messages to each viewer and their
// times, and the requests. This unit knows nothing of threads or of waiting.
// The server's loop asks the clients which events to poll for, and hands them
// the events that have come. Only the server's thread calls these functions.
#ifndef OCULAR_IPC_CLIENTS_H
#define OCULAR_IPC_CLIENTS_H

#include "ipc/frames.h"
#include "ipc/socket.h"
#include "ipc/source.h"

#include <poll.h>

#define CLIENTS_MAX 128

struct Clients {
    const struct ServerSource *source;
    char version[64]; // of Ocular, for the hello
    pid_t pid;
    bool leaving;     // the server closes: `viewers` is not called any more
    unsigned greeted; // number of viewers that have said hello
    uint64_t next_id;
    struct Frames frames;
    struct Viewer viewers[CLIENTS_MAX];
};

void Clients_init(struct Clients *clients, const struct ServerSource *source,
                  const char *version);
// Admits a new connection. The descriptor belongs to the clients from now on.
void Clients_admit(struct Clients *clients, int fd, const struct Peer *peer,
                   uint64_t now);
// Fills one entry for each open viewer, at most CLIENTS_MAX. (poll() refuses
// more entries than the process may have descriptors.) Returns the number of
// entries.
unsigned Clients_poll(struct Clients *clients, struct pollfd *polled);
// Reads and serves the viewers for which poll() has reported an event.
void Clients_read(struct Clients *clients, const struct pollfd *polled,
                  uint64_t now);
// Sends an answer to the viewer with this id, unless the viewer is gone.
void Clients_answer(struct Clients *clients, uint64_t viewer,
                    const struct Bytes *bytes, uint64_t now);
// Drops the encoded frames and the base of each viewer, because the source or
// its snapshots have changed.
void Clients_forget(struct Clients *clients);
// Reports the number of viewers that have said hello to the source.
void Clients_count(struct Clients *clients);
// Returns whether a connection is open, with or without a hello.
bool Clients_is_there(const struct Clients *clients);
// Disconnects all viewers: after the newest snapshot and END, or after an
// ERROR.
void Clients_part(struct Clients *clients, int error, const char *why,
                  uint64_t now);
// Asks the source for a snapshot if a viewer is due.
void Clients_turn(struct Clients *clients, uint64_t now);
// Sends the newest snapshot to all viewers that wait for one. The snapshot is
// encoded once; changes are encoded once for all viewers that have the same
// base.
void Clients_publish(struct Clients *clients);
void Clients_flush(struct Clients *clients, uint64_t now);
// Returns the time at which a viewer next needs something, but at most
// `otherwise`.
uint64_t Clients_next_ms(const struct Clients *clients, uint64_t otherwise);
// Queues the newest snapshot and END for every viewer.
void Clients_end(struct Clients *clients);
void Clients_release(struct Clients *clients); // closes all connections
// Closes the descriptors in a forked child. The memory is freed, too, unless
// `messy` says that the fork may have caught it half changed.
void Clients_abandon(struct Clients *clients, bool messy);

#endif
