// SPDX-License-Identifier: MIT
// Starts the tracer's threads: signals blocked, small stack.
#include "tracer/thread.h"

#include <errno.h>
#include <signal.h>

#define STACK_MAX (16u << 20)

int Thread_start(pthread_t *thread, void *(*run)(void *), void *context,
                 size_t stack_bytes)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // The program's thread-local memory comes out of the stack: where there is
    // much of it, a small one is refused.
    do {
        pthread_attr_setstacksize(&attributes, stack_bytes);
        error = pthread_create(thread, &attributes, run, context);
        stack_bytes *= 2;
    } while (error == EINVAL && stack_bytes <= STACK_MAX);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}
