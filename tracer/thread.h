// SPDX-License-Identifier: MIT
// Starting one of our own threads in a stranger's process: no signal is ever
// delivered to it, and its stack is small.
#ifndef OCULAR_TRACER_THREAD_H
#define OCULAR_TRACER_THREAD_H

#include <pthread.h>
#include <stddef.h>

// 0 or -errno. The thread is joinable and names itself. Its stack is larger
// where the program's thread-local memory would not fit.
int Thread_start(pthread_t *thread, void *(*run)(void *), void *context,
                 size_t stack_bytes);

#endif
