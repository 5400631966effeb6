// SPDX-License-Identifier: MIT
// All viewers of a server: admission, the messages to each and their times, and
// requests. Knows nothing of threads or of waiting: the server's loop asks it
// for the events to poll for, and hands it those that have come. The server's
// thread only.
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
    bool leaving; // the end has begun: no more callbacks about viewers
    unsigned greeted;
    uint64_t next_id;
    struct Frames frames;
    struct Viewer viewers[CLIENTS_MAX];
};

void Clients_init(struct Clients *clients, const struct ServerSource *source,
                  const char *version);
// A new connection; the descriptor is theirs from now on.
void Clients_admit(struct Clients *clients, int fd, const struct Peer *peer,
                   uint64_t now);
// Fills at most CLIENTS_MAX entries, only for viewers there are (poll refuses
// more entries than the process may have descriptors). Their number.
unsigned Clients_poll(struct Clients *clients, struct pollfd *polled);
// Reads and serves those of whom poll has said something.
void Clients_read(struct Clients *clients, const struct pollfd *polled,
                  uint64_t now);
// An answer to one of them, who may be gone.
void Clients_answer(struct Clients *clients, uint64_t viewer,
                    const struct Bytes *bytes, uint64_t now);
// The source is another one, or its snapshots are: nothing of the old ones is
// a base any more.
void Clients_forget(struct Clients *clients);
// Tells the source how many have said hello.
void Clients_count(struct Clients *clients);
// Is anybody there, or about to be let in?
bool Clients_is_there(const struct Clients *clients);
// Everybody is sent away: with the newest snapshot and END, or with an ERROR.
void Clients_part(struct Clients *clients, int error, const char *why,
                  uint64_t now);
// Asks for a snapshot if somebody is due.
void Clients_turn(struct Clients *clients, uint64_t now);
// The newest snapshot, encoded once, to all who wait for one; by changes once
// for all who have had the same one before.
void Clients_publish(struct Clients *clients);
void Clients_flush(struct Clients *clients, uint64_t now);
// When something is to be done for one of them, or `otherwise` if earlier.
uint64_t Clients_next_ms(const struct Clients *clients, uint64_t otherwise);
// Queues the newest snapshot and END for everyone.
void Clients_end(struct Clients *clients);
void Clients_release(struct Clients *clients); // drops everyone
// In a forked child: descriptors, and memory unless it may be in a mess.
void Clients_abandon(struct Clients *clients, bool messy);

#endif
