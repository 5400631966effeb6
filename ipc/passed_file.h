// SPDX-License-Identifier: MIT
// Holds a descriptor that a process has sent to a viewer, until the viewer has
// taken the message to which the descriptor belongs. The client owns this
// struct.
#ifndef OCULAR_IPC_PASSED_FILE_H
#define OCULAR_IPC_PASSED_FILE_H

#include "ipc/wire.h"

#include <stdbool.h>

struct PassedFile {
    // Number of RECORDINGs that were asked for and have not come. A refused
    // request counts, too.
    unsigned awaited;
    int fd;     // 0: none
    bool given; // a message has this descriptor
};

// Receives bytes as Socket_receive does. Keeps a descriptor that comes with the
// bytes if the viewer awaits one. Otherwise the kernel drops the descriptor.
// Closes the descriptor of an earlier message.
long PassedFile_receive(struct PassedFile *passed, int socket, void *data,
                        size_t size);
// Sets the descriptor of a RECORDING. The descriptor stays open until bytes are
// received again.
void PassedFile_give(struct PassedFile *passed, struct Message *message);
void PassedFile_close(struct PassedFile *passed);

#endif
