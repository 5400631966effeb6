// SPDX-License-Identifier: MIT
// Wakes a thread that may be there or not: whoever has work for it calls a
// callback, which that thread's owner sets and clears. A mutex, held while the
// callback runs: once it is cleared nobody calls it any more.
#ifndef OCULAR_TRACER_BASE_WAKER_H
#define OCULAR_TRACER_BASE_WAKER_H

#include <pthread.h>
#include <stdbool.h>

struct Waker {
    pthread_mutex_t mutex;
    void (*wake)(void *context); // NULL: nobody is there
    void *context;
};

void Waker_init(struct Waker *waker);
void Waker_release(struct Waker *waker);
// The callback must not block. NULL: none from now on. Any thread.
void Waker_set(struct Waker *waker, void (*wake)(void *context), void *context);
// false: nobody is there. Any thread.
bool Waker_wake(struct Waker *waker);

#endif
