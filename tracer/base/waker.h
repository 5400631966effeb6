// SPDX-License-Identifier: MIT
// Wakes a thread that may not exist at the moment. To wake the thread, any
// thread calls a callback. The owner of the woken thread sets and clears the
// callback. A mutex is held during the callback, so no thread calls the
// callback after the owner has cleared the callback.
#ifndef OCULAR_TRACER_BASE_WAKER_H
#define OCULAR_TRACER_BASE_WAKER_H

#include <pthread.h>
#include <stdbool.h>

struct Waker {
    pthread_mutex_t mutex;
    void (*wake)(void *context); // NULL if the thread does not exist
    void *context;
};

void Waker_init(struct Waker *waker);
void Waker_release(struct Waker *waker);
// Sets the callback, which must not block. NULL clears the callback. Any thread
// may call this function.
void Waker_set(struct Waker *waker, void (*wake)(void *context), void *context);
// Calls the callback and returns true, or returns false if there is no
// callback. Any thread may call this function.
bool Waker_wake(struct Waker *waker);

#endif
