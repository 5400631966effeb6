// SPDX-License-Identifier: MIT
// Sends messages without a pause, for tests of the viewer's screen. The server
// sends HELLO, then a snapshot (unless --notices is given), and then an endless
// series of notices, no matter what a viewer requests. The program prints its
// socket's path and runs until it is killed.
#include "ipc/address.h"
#include "ipc/socket.h"
#include "ipc/wire.h"
#include "tests/tui/sample.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOTICES 20000 // number of notices that one call sends

static struct Bytes beginning, flood;

static void add(struct Bytes *bytes, struct Message message)
{
    if (Message_encode(bytes, &message))
        abort();
}

static int send_all(int fd, const struct Bytes *bytes)
{
    size_t sent = 0;
    while (sent < bytes->size) {
        long got = Socket_send(fd, bytes->data + sent, bytes->size - sent);
        if (got > 0)
            sent += (size_t)got;
        // Without room, tries again at once, so that the viewer always has
        // data.
        else if (got != -EAGAIN)
            return -1;
    }
    return 0;
}

static void *drown(void *argument)
{
    int fd = (int)(intptr_t)argument, much = 64 << 20;
    // Makes the send buffer as large as possible, so that the viewer always
    // finds more data.
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
    int error = send_all(fd, &beginning);
    while (!error)
        error = send_all(fd, &flood);
    close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[ADDRESS_MAX], why[512], words[] = "", version[] = "0";
    struct Peer peer;
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});
    add(&beginning, (struct Message){.type = MESSAGE_HELLO,
                                     .version = WIRE_VERSION,
                                     .number = (uint64_t)getpid(),
                                     .text = version});
    if (argc == 1 || strcmp(argv[1], "--notices") != 0)
        add(&beginning,
            (struct Message){.type = MESSAGE_SNAPSHOT, .snapshot = snapshot});
    Snapshot_free(snapshot);
    for (int i = 0; i < NOTICES; i++)
        add(&flood, (struct Message){.type = MESSAGE_NOTICE, .text = words});
    alarm(600); // a server that a test has forgotten ends by itself
    if (Address_prepare(path, getpid(), why, sizeof why))
        return 1;
    struct pollfd polled = {.fd = Socket_listen(path), .events = POLLIN};
    printf("%s\n", path);
    fflush(stdout);
    while (poll(&polled, 1, -1) > 0) {
        pthread_t thread;
        int fd = Socket_accept(polled.fd, &peer);
        if (fd >= 0 &&
            pthread_create(&thread, NULL, drown, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
    }
    return 1;
}
