// SPDX-License-Identifier: MIT
// Starts the tracer's threads: signals blocked, small stack.
#include "tracer/thread.h"

#include <signal.h>

int Thread_start(pthread_t *thread, void *(*run)(void *), void *context,
                 size_t stack_bytes)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}
