// SPDX-License-Identifier: MIT
// A list of answers, by which any thread hands answers to the server's thread.
// The lock of the list is held for a few instructions only.
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
// Encodes an answer and appends it; any thread may call this. A message that is
// too large to send is replaced by an ERROR that says so. Returns 0 or -errno.
int Answers_push(struct Answers *answers, uint64_t viewer,
                 const struct Message *message);
// Takes all answers off the list and returns the oldest, to be freed by the
// caller, or NULL.
struct Answer *Answers_take(struct Answers *answers);
void Answer_free(struct Answer *first); // frees the following answers, too
// Frees the list in a forked child, unless another thread held the lock at the
// fork.
void Answers_abandon(struct Answers *answers);

#endif
