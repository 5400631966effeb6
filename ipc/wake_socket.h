// SPDX-License-Identifier: MIT
// What other threads wake the server's thread with: it is readable from a
// wake-up until it is cleared. A pair of sockets, since those can be told from
// what the program opens under their numbers once it has closed them
// (opened.h). Opened, cleared and closed by one thread at a time; any thread
// wakes.
#ifndef OCULAR_IPC_WAKE_SOCKET_H
#define OCULAR_IPC_WAKE_SOCKET_H

#include "ipc/base/opened.h"

struct WakeSocket {
    atomic_int write_end; // the end that a wake-up is sent to
    atomic_int read_end;  // the end to poll; both -1: there is none
    struct Opened write_file, read_file;
    int left[2]; // the ends of one that was lost, to be closed later; or -1
};

void WakeSocket_init(struct WakeSocket *socket); // there is none
// 0 or -errno, and then there is none.
int WakeSocket_open(struct WakeSocket *socket);
// False: nobody wakes up by it.
bool WakeSocket_wake(const struct WakeSocket *socket);
void WakeSocket_clear(struct WakeSocket *socket);
// Where the program has closed one of its ends: true, and there is none. It may
// be about to close the other: that is left to it until the next
// WakeSocket_open.
bool WakeSocket_forget_lost(struct WakeSocket *socket);
void WakeSocket_close(struct WakeSocket *socket);

#endif
