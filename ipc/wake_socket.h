// SPDX-License-Identifier: MIT
// struct WakeSocket wakes the server's thread, which polls it. From
// WakeSocket_wake() to WakeSocket_clear(), the wake-up socket is readable. A
// wake-up socket is a pair of sockets and not an eventfd. Each socket has its
// own inode, but all eventfds share one. Because each socket has its own inode,
// the server notices if the program has closed the pair and opened other files
// with the same numbers (opened.h). Any thread may call WakeSocket_wake(). Only
// one thread at a time may call the other functions.
#pragma once

#include "ipc/base/opened.h"

struct WakeSocket {
    // Descriptor by which WakeSocket_wake() sends a byte; -1 if no pair is
    // open.
    atomic_int write_end;
    // Descriptor that the server polls; -1 if no pair is open.
    atomic_int read_end;
    struct Opened write_file, read_file;
    // Descriptors of a closed pair that Ocular must close later; -1 if there
    // are none.
    int left[2];
};

// Initialises the struct, without opening a pair.
void WakeSocket_init(struct WakeSocket *socket);
// Opens a pair of sockets. Returns 0 or -errno. After an error no pair is open.
int WakeSocket_open(struct WakeSocket *socket);
// Wakes the server's thread. Returns false if the program has closed the
// socket.
bool WakeSocket_wake(const struct WakeSocket *socket);
void WakeSocket_clear(struct WakeSocket *socket);
// If the program has closed one socket of the pair, forgets the pair and
// returns true. The other socket stays open until the next WakeSocket_open,
// because the program may be about to close it as well.
bool WakeSocket_forget_lost(struct WakeSocket *socket);
void WakeSocket_close(struct WakeSocket *socket);
