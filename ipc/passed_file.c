// SPDX-License-Identifier: MIT
#include "ipc/passed_file.h"

#include "ipc/socket.h"

#include <unistd.h>

long PassedFile_receive(struct PassedFile *passed, int socket, void *data,
                        size_t size)
{
    int fd = 0;
    long got;

    if (passed->given)
        PassedFile_close(passed);
    got = passed->awaited ? Socket_receive_file(socket, data, size, &fd)
                          : Socket_receive(socket, data, size);
    if (fd && passed->fd)
        // A second descriptor is closed, because only one waits for its
        // message.
        close(fd);
    else if (fd)
        passed->fd = fd;
    return got;
}

void PassedFile_give(struct PassedFile *passed, struct Message *message)
{
    if (message->type != MESSAGE_RECORDING || passed->given)
        return;
    message->descriptor = passed->fd;
    passed->given = true;
    passed->awaited -= passed->awaited > 0;
}

void PassedFile_close(struct PassedFile *passed)
{
    if (passed->fd)
        close(passed->fd);
    passed->fd = 0;
    passed->given = false;
}
