// SPDX-License-Identifier: MIT
// Answers on their way from any thread to the server's: a list under a lock
// that is held for a few instructions.
#ifndef OCULAR_IPC_ANSWERS_H
#define OCULAR_IPC_ANSWERS_H

#include "ipc/wire.h"

#include <pthread.h>

struct Answer {
    struct Answer *next;
    uint64_t viewer;
    struct Bytes bytes; // one frame
};

struct Answers {
    pthread_mutex_t lock;
    struct Answer *first;
    struct Answer **end;
};

void Answers_init(struct Answers *answers);
void Answers_release(struct Answers *answers);
// Any thread. One that is too large to send becomes an ERROR that says so.
int Answers_push(struct Answers *answers, uint64_t viewer,
                 const struct Message *message);
// All of them, oldest first, for the caller to free; or NULL.
struct Answer *Answers_take(struct Answers *answers);
void Answer_free(struct Answer *first); // and all that follow
// In a forked child, where another thread may hold the lock for ever.
void Answers_abandon(struct Answers *answers);

#endif
