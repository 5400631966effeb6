// SPDX-License-Identifier: MIT
// Fuzzes the process's side of the protocol. Arbitrary bytes go through a
// socket to the module `clients`, in pieces of any size, as if a viewer had
// sent them. The first byte determines the sizes of the pieces, and whether
// descriptors are sent with the pieces.
#include "ipc/clients.h"
#include "tests/fuzz/replay.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct Stage {
    struct Clients clients;
    struct Snapshot *snapshot;
    unsigned greeted;
    bool wanted;
    uint64_t now;
};

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void hear_want(void *context, bool first)
{
    (void)first;
    ((struct Stage *)context)->wanted = true;
}

static const struct Snapshot *give(void *context)
{
    return ((struct Stage *)context)->snapshot;
}

static void take_back(void *context, const struct Snapshot *snapshot)
{
    expect(snapshot == ((struct Stage *)context)->snapshot);
}

// Answers a request at once with the content of the request.
static void hear_request(void *context, uint64_t viewer,
                         const struct Message *message)
{
    struct Stage *stage = context;
    struct Message reply = {.type = MESSAGE_REPLY,
                            .request = message->request,
                            .number = message->number,
                            .value = message->value,
                            .text = message->text};
    struct Answer answer = {.viewer = viewer};

    expect(!message->descriptor);
    if (message->type == MESSAGE_HANDOUT) {
        reply.type = MESSAGE_RECORDING;
        answer.file = open("/dev/null", O_RDONLY);
        Opened_note(&answer.opened, answer.file);
    }
    expect(Message_encode(&answer.bytes, &reply) == 0);
    Clients_answer(&stage->clients, &answer, stage->now);
    if (answer.file)
        close(answer.file); // the viewer has disconnected
    Bytes_release(&answer.bytes);
}

static void count(void *context, unsigned viewers)
{
    ((struct Stage *)context)->greeted = viewers;
}

// Does one turn of the server's loop.
static void turn(struct Stage *stage)
{
    struct pollfd polled[CLIENTS_MAX];

    Clients_poll(&stage->clients, polled);
    polled[0].revents = POLLIN;
    Clients_read(&stage->clients, polled, stage->now);
    Clients_turn(&stage->clients, stage->now);
    if (stage->wanted)
        Clients_publish(&stage->clients);
    stage->wanted = false;
    Clients_flush(&stage->clients, stage->now);
    stage->now += 100;
}

// Sends a piece. Some pieces come with a descriptor. The descriptor belongs to
// a regular file or to something else.
static long send_piece(int fd, const uint8_t *piece, size_t length, int passed)
{
    if (passed)
        return Socket_send_file(fd, piece, length, passed);
    return send(fd, piece, length, MSG_NOSIGNAL);
}

// Returns the number that the next descriptor would get. If no descriptor was
// leaked, the next number is the same as before.
static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return fd;
}

static void talk(struct Stage *stage, int fd, const uint8_t *data, size_t size)
{
    size_t piece = size ? 1 + data[0] * 7u : 1;
    char answers[4096];
    int passed[] = {memfd_create("export", 0), fd, 0};

    for (size_t at = 1; at < size; at += piece) {
        size_t length = size - at < piece ? size - at : piece;

        if (send_piece(fd, data + at, length,
                       data[0] & 0x40 ? passed[at % 3] : 0) < 0)
            break; // the process has closed the connection
        turn(stage);
        if (piece % 2) // After all other pieces, the viewer reads no answers.
            while (recv(fd, answers, sizeof(answers), 0) > 0)
                ;
    }
    close(passed[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct Stage stage;
    struct ServerSource source = {.context = &stage,
                                  .want = hear_want,
                                  .get = give,
                                  .put = take_back,
                                  .request = hear_request,
                                  .viewers = count};
    struct Peer peer = {.pid = getpid(), .uid = geteuid()};
    int pair[2], before = next_descriptor();

    memset(&stage, 0, sizeof(stage));
    stage.snapshot = Snapshot_new();
    expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    Clients_init(&stage.clients, &source, "9.9");
    Clients_admit(&stage.clients, pair[0], &peer, stage.now);
    turn(&stage);
    talk(&stage, pair[1], data, size);
    close(pair[1]);
    turn(&stage);
    // After this time, every time limit of the process has passed.
    stage.now += 100000;
    turn(&stage);
    expect(stage.greeted == 0);
    expect(!Clients_is_there(&stage.clients));
    Clients_release(&stage.clients);
    expect(next_descriptor() == before);
    Snapshot_free(stage.snapshot);
    return 0;
}
