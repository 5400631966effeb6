// SPDX-License-Identifier: MIT
// The socket by which other threads wake the server's thread: it is readable
// from a wake-up until it is cleared. A wake-up socket is a pair of sockets and
// not an eventfd. So the server notices if the program closes the pair and
// opens other files with the same numbers (opened.h). One thread at a time
// opens, clears and closes a wake-up socket; any thread may wake.
#ifndef OCULAR_IPC_WAKE_SOCKET_H
#define OCULAR_IPC_WAKE_SOCKET_H

#include "ipc/base/opened.h"

struct WakeSocket {
    atomic_int write_end; // a wake-up is sent to this end; -1: none
    atomic_int read_end;  // the server polls this end; -1: none
    struct Opened write_file, read_file;
    int left[2]; // ends of a lost pair, to be closed later; or -1
};

void WakeSocket_init(struct WakeSocket *socket); // no pair is open
// Opens a pair of sockets. Returns 0 or -errno; after an error no pair is open.
int WakeSocket_open(struct WakeSocket *socket);
// Wakes the thread. Returns false if this is not possible.
bool WakeSocket_wake(const struct WakeSocket *socket);
void WakeSocket_clear(struct WakeSocket *socket);
// Forgets the pair if the program has closed one of its ends, and returns
// whether the pair was lost. The program may be about to close the other end,
// so that end stays open until the next WakeSocket_open.
bool WakeSocket_forget_lost(struct WakeSocket *socket);
void WakeSocket_close(struct WakeSocket *socket);

#endif
