// SPDX-License-Identifier: MIT
// Calls the callback that wakes a thread, under a mutex. The server's thread
// and the collector's thread wake the governor with a Waker (session.h).
#include "tracer/base/waker.h"

void Waker_init(struct Waker *waker)
{
    *waker = (struct Waker){.wake = NULL};
    pthread_mutex_init(&waker->mutex, NULL);
}

void Waker_release(struct Waker *waker)
{
    pthread_mutex_destroy(&waker->mutex);
}

void Waker_set(struct Waker *waker, void (*wake)(void *context), void *context)
{
    pthread_mutex_lock(&waker->mutex);
    waker->wake = wake;
    waker->context = context;
    pthread_mutex_unlock(&waker->mutex);
}

bool Waker_wake(struct Waker *waker)
{
    bool is_there;

    pthread_mutex_lock(&waker->mutex);
    is_there = waker->wake;
    if (is_there)
        waker->wake(waker->context);
    pthread_mutex_unlock(&waker->mutex);
    return is_there;
}
