// SPDX-License-Identifier: MIT
// The socket by which other threads wake the server's thread: it is readable
// from a wake-up until it is cleared. It is a pair of sockets: if the program
// closes them and opens other files under their numbers, the difference shows
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
// True: the program has closed one of its ends, and there is none from now on.
// The program may be about to close the other, so that stays open until the
// next WakeSocket_open.
bool WakeSocket_forget_lost(struct WakeSocket *socket);
void WakeSocket_close(struct WakeSocket *socket);

#endif
