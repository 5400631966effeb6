// SPDX-License-Identifier: MIT
// What other threads wake the server's thread with: it is readable from a ring
// until it is silenced. A pair of sockets, since those can be told from what
// the program opens under their numbers once it has closed them (opened.h).
// Opened, silenced and closed by one thread at a time, rung by any.
#ifndef OCULAR_IPC_BELL_H
#define OCULAR_IPC_BELL_H

#include "ipc/base/opened.h"

struct Bell {
    atomic_int pulled; // the end that a ring is sent to
    atomic_int heard;  // the end to poll; both -1: there is none
    struct Opened pulled_file, heard_file;
    int left[2]; // the ends of one that was lost, to be closed later; or -1
};

void Bell_init(struct Bell *bell); // there is none
int Bell_open(struct Bell *bell);  // 0 or -errno, and then there is none
// False: nobody hears it.
bool Bell_ring(const struct Bell *bell);
void Bell_silence(struct Bell *bell);
// Where the program has closed one of its ends: true, and there is none. It may
// be about to close the other: that is left to it until the next Bell_open.
bool Bell_forget_lost(struct Bell *bell);
void Bell_close(struct Bell *bell);

#endif
