// SPDX-License-Identifier: MIT
// struct Clients has all viewers of a server. struct Clients admits viewers,
// sends each viewer messages at the right times, and serves requests. The
// functions of clients.h start no thread and do not wait. The server's loop
// gets from Clients_poll() the events to wait for, and passes the events to
// Clients_read(). Only the server's thread calls these functions.
#pragma once

#include "ipc/answers.h"
#include "ipc/frames.h"
#include "ipc/socket.h"
#include "ipc/source.h"

#include <poll.h>

#define CLIENTS_MAX 128

struct Clients {
    const struct ServerSource *source;
    char version[64]; // Version of Ocular, for the hello.
    pid_t pid;
    // True while the server closes. While `leaving` is true, source->viewers is
    // not called.
    bool leaving;
    unsigned greeted; // Number of viewers that have sent a HELLO.
    uint64_t next_id;
    struct Frames frames;
    struct Viewer viewers[CLIENTS_MAX];
};

void Clients_init(struct Clients *clients, const struct ServerSource *source,
                  const char *version);
// Admits a new connection, and takes over the ownership of `fd`.
void Clients_admit(struct Clients *clients, int fd, const struct Peer *peer,
                   uint64_t now);
// Fills an entry of `polled` for each connected viewer. Returns the number of
// entries filled, at most CLIENTS_MAX. (poll() refuses a list that is longer
// than the process's limit of descriptors.)
unsigned Clients_poll(struct Clients *clients, struct pollfd *polled);
// Reads and serves the viewers for which poll() has reported an event.
void Clients_read(struct Clients *clients, const struct pollfd *polled,
                  uint64_t now);
// Sends an answer to its viewer, unless the viewer is gone. Takes over the
// answer's file descriptor.
void Clients_answer(struct Clients *clients, struct Answer *answer,
                    uint64_t now);
// Drops the encoded frames, so that each viewer gets a whole snapshot next.
// Must be called after the server's source has changed.
void Clients_forget(struct Clients *clients);
// Tells the source how many viewers have sent a HELLO.
void Clients_count(struct Clients *clients);
// Returns true if a connection is open, with or without a HELLO.
bool Clients_is_there(const struct Clients *clients);
// Disconnects all viewers. If `error` is not 0, each viewer first gets an
// ERROR. If `error` is 0, each viewer first gets the newest snapshot and END.
void Clients_part(struct Clients *clients, int error, const char *why,
                  uint64_t now);
// Asks the source for a snapshot if the next snapshot of any viewer is due.
void Clients_turn(struct Clients *clients, uint64_t now);
// Sends the newest snapshot to all viewers that wait. A whole snapshot is
// encoded once. Changes are encoded once for all viewers that have the same
// earlier snapshot.
void Clients_publish(struct Clients *clients);
void Clients_flush(struct Clients *clients, uint64_t now);
// Returns the earliest time at which a viewer's snapshot is due, at which a
// viewer's deadline ends, or at which a viewer may make requests again. If
// `otherwise` is earlier, returns `otherwise`.
uint64_t Clients_next_ms(const struct Clients *clients, uint64_t otherwise);
// Queues the newest snapshot and END for every viewer.
void Clients_end(struct Clients *clients);
// Closes the connections of all viewers.
void Clients_release(struct Clients *clients);
// Closes the viewers' descriptors in a forked child. Also frees the memory,
// unless `messy` is true. `messy` means that the parent may have been changing
// the viewers' memory during the fork.
void Clients_abandon(struct Clients *clients, bool messy);
