// SPDX-License-Identifier: MIT
// Lists the reasons why a thread does not run, and the reasons why a coroutine
// is suspended. The engine and the viewer share these lists.
#pragma once

enum WaitKind {
    // The thread waits for a socket, or for one of several descriptors.
    WAITS_SOCKET,
    WAITS_FILE, // The thread waits for a file or a pipe.
    WAITS_LOCK, // The thread waits for a futex that is not part of the GIL.
    WAITS_SLEEP,
    WAITS_GIL,
    WAITS_CPU, // The thread is ready to run but has no CPU.
    // The thread has nothing to do, like an event loop or a pool's worker that
    // has no work.
    WAITS_IDLE,
    WAITS_OTHER,
    WAIT_KINDS
};

// The kind of a wait whose reason is not known.
#define WAIT_UNKNOWN WAIT_KINDS

// The kind of an await in which a coroutine is suspended.
enum AwaitKind {
    AWAITS_SLEEP,
    AWAITS_QUEUE,
    AWAITS_LOCK, // A lock, a semaphore, a condition, an event or a barrier.
    AWAITS_SOCKET,
    AWAITS_THREAD, // A job in another thread.
    AWAITS_TASK,   // Another task, or several tasks.
    // A future, and it is not known who sets its result.
    AWAITS_FUTURE,
    // The await is over, but the event loop still runs other code.
    AWAITS_LOOP,
    AWAITS_OTHER,
    AWAIT_KINDS
};

// A coroutine function that does not show what it awaits.
#define AWAIT_UNKNOWN AWAIT_KINDS

// Returns the name of a kind of wait on the wire and in JSON, or NULL for
// WAIT_UNKNOWN.
const char *WaitKind_name(unsigned kind);
// Returns the kind of wait with this name, or WAIT_UNKNOWN if no kind has the
// name. `name` may be NULL.
unsigned WaitKind_of(const char *name);
