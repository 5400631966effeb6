// SPDX-License-Identifier: MIT
// struct Clients has all viewers of a server. clients.c admits viewers, sends
// each viewer messages at the right times, and serves requests. clients.c does
// not use threads and does not wait. The server's loop calls Clients_poll() for
// the events to wait for, and passes the events to Clients_read(). Only the
// server's thread calls these functions.
#ifndef OCULAR_IPC_CLIENTS_H
#define OCULAR_IPC_CLIENTS_H

#include "ipc/answers.h"
#include "ipc/frames.h"
#include "ipc/socket.h"
#include "ipc/source.h"

#include <poll.h>

#define CLIENTS_MAX 128

struct Clients {
    const struct ServerSource *source;
    char version[64]; // of Ocular, for the hello
    pid_t pid;
    // The server closes: source->viewers is not called any more.
    bool leaving;
    unsigned greeted; // number of viewers that have said hello
    uint64_t next_id;
    struct Frames frames;
    struct Viewer viewers[CLIENTS_MAX];
};

void Clients_init(struct Clients *clients, const struct ServerSource *source,
                  const char *version);
// Admits a new connection, and takes over the ownership of `fd`.
void Clients_admit(struct Clients *clients, int fd, const struct Peer *peer,
                   uint64_t now);
// Fills an entry of `polled` for each open viewer, and returns the number of
// entries, at most CLIENTS_MAX. (poll() refuses more entries than the process
// may have descriptors.)
unsigned Clients_poll(struct Clients *clients, struct pollfd *polled);
// Reads and serves the viewers for which poll() has reported an event.
void Clients_read(struct Clients *clients, const struct pollfd *polled,
                  uint64_t now);
// Sends an answer to its viewer, unless the viewer is gone. Takes over the
// answer's file.
void Clients_answer(struct Clients *clients, struct Answer *answer,
                    uint64_t now);
// Drops the encoded frames and the base of each viewer. Called after the source
// has changed.
void Clients_forget(struct Clients *clients);
// Reports the number of viewers that have said hello to the source.
void Clients_count(struct Clients *clients);
// Returns whether a connection is open, with or without a hello.
bool Clients_is_there(const struct Clients *clients);
// Disconnects all viewers. Before that, each viewer gets an ERROR if `error` is
// not 0, otherwise the newest snapshot and END.
void Clients_part(struct Clients *clients, int error, const char *why,
                  uint64_t now);
// Asks the source for a snapshot if a viewer is due.
void Clients_turn(struct Clients *clients, uint64_t now);
// Sends the newest snapshot to all waiting viewers. A whole snapshot is encoded
// once. Changes are encoded once for all viewers that have the same base.
void Clients_publish(struct Clients *clients);
void Clients_flush(struct Clients *clients, uint64_t now);
// Returns the earliest time at which a viewer is due, reaches a deadline, or
// may make requests again. Returns `otherwise` if `otherwise` is earlier.
uint64_t Clients_next_ms(const struct Clients *clients, uint64_t otherwise);
// Queues the newest snapshot and END for every viewer.
void Clients_end(struct Clients *clients);
void Clients_release(struct Clients *clients); // closes all connections
// Closes the descriptors in a forked child. Frees the memory, too, unless
// `messy` is true: the parent may have been changing the memory during the
// fork.
void Clients_abandon(struct Clients *clients, bool messy);

#endif
