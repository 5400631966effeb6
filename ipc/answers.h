// SPDX-License-Identifier: MIT
// struct Answers is a list by which any thread passes answers to the server's
// thread. A thread holds the list's lock only for a few instructions.
#pragma once

#include "ipc/base/opened.h"
#include "ipc/wire.h"

#include <pthread.h>

struct Answer {
    struct Answer *next;
    uint64_t viewer;
    struct Bytes bytes; // The encoded answer, as one frame.
    // Descriptor of a file that is sent with the answer's first byte, or 0 if
    // there is none. The answer owns this descriptor.
    int file;
    struct Opened opened;
};

struct Answers {
    pthread_mutex_t lock;
    struct Answer *first;
    struct Answer **end;
};

void Answers_init(struct Answers *answers);
void Answers_release(struct Answers *answers);
// Encodes an answer and appends it to the list. If the message is too large,
// appends an ERROR message instead. Takes ownership of the message's
// descriptor, even after an error. Returns 0 or -errno. Any thread may call
// this function.
int Answers_push(struct Answers *answers, uint64_t viewer,
                 const struct Message *message);
// Removes all answers from the list. Returns the oldest answer, or NULL if the
// list was empty. `next` of an answer points to the answer that was appended
// after it. The caller frees the answers by Answer_free().
struct Answer *Answers_take(struct Answers *answers);
// Frees an answer and all answers that follow it.
void Answer_free(struct Answer *first);
// Frees the list in a forked child, unless another thread held the lock at the
// fork.
void Answers_abandon(struct Answers *answers);
