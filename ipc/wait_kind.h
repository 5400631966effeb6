// SPDX-License-Identifier: MIT
// Lists the reasons for which a thread does not run. The engine and the viewer
// share the list of reasons.
#ifndef OCULAR_IPC_WAIT_KIND_H
#define OCULAR_IPC_WAIT_KIND_H

enum WaitKind {
    // The thread waits for a socket, or for any of several descriptors.
    WAITS_SOCKET,
    WAITS_FILE, // The thread waits for a file or a pipe.
    WAITS_LOCK, // The thread waits for a futex that is not part of the GIL.
    WAITS_SLEEP,
    WAITS_GIL,
    WAITS_CPU,  // The thread is ready to run but has no CPU.
    WAITS_IDLE, // The thread's event loop has nothing to do.
    WAITS_OTHER,
    WAIT_KINDS
};

// The kind of a waiting time whose reason is not known.
#define WAIT_UNKNOWN WAIT_KINDS

// Returns the name that the wire and JSON use, or NULL for WAIT_UNKNOWN.
const char *WaitKind_name(unsigned kind);
// Returns WAIT_UNKNOWN if no kind has the name. `name` may be NULL.
unsigned WaitKind_of(const char *name);

#endif
