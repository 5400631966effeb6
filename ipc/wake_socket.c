// SPDX-License-Identifier: MIT
#include "ipc/wake_socket.h"

#include "ipc/socket.h"

#include <errno.h>

void WakeSocket_init(struct WakeSocket *socket)
{
    atomic_init(&socket->write_end, -1);
    atomic_init(&socket->read_end, -1);
    socket->left[0] = socket->left[1] = -1;
}

static void close_left(struct WakeSocket *socket)
{
    Opened_close(&socket->write_file, socket->left[0]);
    Opened_close(&socket->read_file, socket->left[1]);
    socket->left[0] = socket->left[1] = -1;
}

int WakeSocket_open(struct WakeSocket *socket)
{
    int ends[2], error;

    close_left(socket);
    error = Socket_pair(ends);
    if (error)
        return error;
    // The sockets must be noted before their descriptors are stored, because a
    // thread that reads a descriptor also compares the socket.
    Opened_note(&socket->write_file, ends[0]);
    Opened_note(&socket->read_file, ends[1]);
    atomic_store(&socket->write_end, ends[0]);
    atomic_store(&socket->read_end, ends[1]);
    return 0;
}

bool WakeSocket_wake(const struct WakeSocket *socket)
{
    int write_end = atomic_load(&socket->write_end);
    long sent = -EBADF;

    if (Opened_holds(&socket->write_file, write_end))
        sent = Socket_send(write_end, "", 1);
    // -EAGAIN means that earlier wake-ups have filled the socket's buffer.
    return sent > 0 || sent == -EAGAIN;
}

void WakeSocket_clear(struct WakeSocket *socket)
{
    // If the buffer contains more than 256 wake-ups, the socket stays readable.
    char bytes[256];

    if (Opened_holds(&socket->read_file, atomic_load(&socket->read_end)))
        Socket_receive(atomic_load(&socket->read_end), bytes, sizeof(bytes));
}

bool WakeSocket_forget_lost(struct WakeSocket *socket)
{
    int write_end = atomic_load(&socket->write_end),
        read_end = atomic_load(&socket->read_end);

    if (read_end < 0 || (Opened_holds(&socket->write_file, write_end) &&
                         Opened_holds(&socket->read_file, read_end)))
        return false;
    socket->left[0] = atomic_exchange(&socket->write_end, -1);
    socket->left[1] = atomic_exchange(&socket->read_end, -1);
    return true;
}

void WakeSocket_close(struct WakeSocket *socket)
{
    close_left(socket);
    Opened_close(&socket->write_file, atomic_exchange(&socket->write_end, -1));
    Opened_close(&socket->read_file, atomic_exchange(&socket->read_end, -1));
}
