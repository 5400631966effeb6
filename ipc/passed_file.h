// SPDX-License-Identifier: MIT
// struct PassedFile holds a descriptor that a process has sent to a viewer,
// until the viewer has taken the message to which the descriptor belongs. A
// struct Client owns its struct PassedFile.
#pragma once

#include "ipc/wire.h"

#include <stdbool.h>

struct PassedFile {
    // Number of RECORDINGs that were asked for and have not come. Requests that
    // were refused count, too.
    unsigned awaited;
    int fd;     // The descriptor that was received, or 0 if there is none.
    bool given; // True if a message already has this descriptor.
};

// Receives bytes as Socket_receive does. If the viewer awaits a descriptor,
// keeps one that comes with the bytes. If the viewer awaits no descriptor, the
// kernel drops the one that has come. Also closes the descriptor of an earlier
// message.
long PassedFile_receive(struct PassedFile *passed, int socket, void *data,
                        size_t size);
// Gives the received descriptor to a message RECORDING. The descriptor stays
// open until bytes are received again.
void PassedFile_give(struct PassedFile *passed, struct Message *message);
void PassedFile_close(struct PassedFile *passed);
