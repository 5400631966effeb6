// SPDX-License-Identifier: MIT
// All viewers of a server: who is let in, what each is owed and when, and what
// they ask for. Knows nothing of threads or of waiting: the server's loop asks
// it what to poll for and tells it what happened. The server's thread only.
#ifndef OCULAR_IPC_AUDIENCE_H
#define OCULAR_IPC_AUDIENCE_H

#include "ipc/socket.h"
#include "ipc/source.h"
#include "ipc/viewer.h"

#include <poll.h>

#define AUDIENCE_MAX 128

struct Audience {
    const struct ServerSource *source;
    char version[64]; // of Ocular, for the hello
    pid_t pid;
    bool leaving; // the end has begun: no more callbacks about viewers
    unsigned greeted;
    uint64_t next_id;
    struct Frame *newest; // what was encoded last, or NULL
    struct Viewer viewers[AUDIENCE_MAX];
};

void Audience_init(struct Audience *audience, const struct ServerSource *source,
                   const char *version);
// A new connection; the descriptor is the audience's from now on.
void Audience_admit(struct Audience *audience, int fd, const struct Peer *peer,
                    uint64_t now);
// Fills at most AUDIENCE_MAX entries, only for viewers there are (poll refuses
// more entries than the process may have descriptors). Their number.
unsigned Audience_poll(struct Audience *audience, struct pollfd *polled);
// Reads and serves those of whom poll has said something.
void Audience_read(struct Audience *audience, const struct pollfd *polled,
                   uint64_t now);
// An answer to one of them, who may be gone.
void Audience_answer(struct Audience *audience, uint64_t viewer,
                     const struct Bytes *bytes, uint64_t now);
// Tells the source how many have said hello.
void Audience_count(struct Audience *audience);
// Is anybody there, or at the door?
bool Audience_is_there(const struct Audience *audience);
// Everybody is sent away: with the newest snapshot and END, or with an ERROR.
void Audience_part(struct Audience *audience, int error, const char *why,
                   uint64_t now);
// Asks for a snapshot if somebody is due.
void Audience_turn(struct Audience *audience, uint64_t now);
// The newest snapshot, encoded once, to all who wait for one.
void Audience_publish(struct Audience *audience);
void Audience_flush(struct Audience *audience, uint64_t now);
// When something is to be done for one of them, or `otherwise` if earlier.
uint64_t Audience_next_ms(const struct Audience *audience, uint64_t otherwise);
// Queues the newest snapshot and END for everyone.
void Audience_end(struct Audience *audience);
void Audience_release(struct Audience *audience); // drops everyone
// In a forked child: descriptors, and memory unless it may be in a mess.
void Audience_abandon(struct Audience *audience, bool messy);

#endif
