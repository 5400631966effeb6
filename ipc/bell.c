// SPDX-License-Identifier: MIT
// See bell.h.
#include "ipc/bell.h"

#include "ipc/socket.h"

#include <errno.h>

void Bell_init(struct Bell *bell)
{
    atomic_init(&bell->pulled, -1);
    atomic_init(&bell->heard, -1);
    bell->left[0] = bell->left[1] = -1;
}

static void close_left(struct Bell *bell)
{
    Opened_close(&bell->pulled_file, bell->left[0]);
    Opened_close(&bell->heard_file, bell->left[1]);
    bell->left[0] = bell->left[1] = -1;
}

int Bell_open(struct Bell *bell)
{
    int ends[2], error;

    close_left(bell);
    error = Socket_pair(ends);
    if (error)
        return error;
    // The files before the numbers: who sees a number may compare.
    Opened_note(&bell->pulled_file, ends[0]);
    Opened_note(&bell->heard_file, ends[1]);
    atomic_store(&bell->pulled, ends[0]);
    atomic_store(&bell->heard, ends[1]);
    return 0;
}

bool Bell_ring(const struct Bell *bell)
{
    int pulled = atomic_load(&bell->pulled);
    long sent = -EBADF;

    if (Opened_holds(&bell->pulled_file, pulled))
        sent = Socket_send(pulled, "", 1);
    return sent > 0 || sent == -EAGAIN; // which has rung often already
}

void Bell_silence(struct Bell *bell)
{
    char rings[256]; // with more of them it is still readable

    if (Opened_holds(&bell->heard_file, atomic_load(&bell->heard)))
        Socket_receive(atomic_load(&bell->heard), rings, sizeof(rings));
}

bool Bell_forget_lost(struct Bell *bell)
{
    int pulled = atomic_load(&bell->pulled), heard = atomic_load(&bell->heard);

    if (heard < 0 || (Opened_holds(&bell->pulled_file, pulled) &&
                      Opened_holds(&bell->heard_file, heard)))
        return false;
    bell->left[0] = atomic_exchange(&bell->pulled, -1);
    bell->left[1] = atomic_exchange(&bell->heard, -1);
    return true;
}

void Bell_close(struct Bell *bell)
{
    close_left(bell);
    Opened_close(&bell->pulled_file, atomic_exchange(&bell->pulled, -1));
    Opened_close(&bell->heard_file, atomic_exchange(&bell->heard, -1));
}
