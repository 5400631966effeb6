// SPDX-License-Identifier: MIT
// Wakes a thread that might not exist at the moment. Any thread may wake the
// thread by a callback. The owner of the woken thread sets and clears the
// callback. A mutex is held during the callback, so no thread is in the
// callback after the owner has cleared the callback.
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct Waker {
    pthread_mutex_t mutex;
    // The callback, or NULL if the thread does not exist.
    void (*wake)(void *context);
    void *context;
};

void Waker_init(struct Waker *waker);
void Waker_release(struct Waker *waker);
// Sets the callback, which must not block. NULL clears the callback. Any thread
// may call Waker_set.
void Waker_set(struct Waker *waker, void (*wake)(void *context), void *context);
// Calls the callback and returns true, or returns false if there is no
// callback. Any thread may call Waker_wake.
bool Waker_wake(struct Waker *waker);
