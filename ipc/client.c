// SPDX-License-Identifier: MIT
// Implements a viewer's connection to a traced process. The buffer `in` holds
// received bytes until a message is complete. The buffer `out` holds the bytes
// that the socket has not taken yet. The viewer's feed calls these functions on
// one thread.
#include "ipc/client.h"
#include "ipc/base/now.h"
#include "ipc/changes.h"
#include "ipc/socket.h"
#include "ipc/version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OPEN_MS 2000
// Milliseconds between two attempts to connect while the socket's queue is
// full.
#define RETRY_MS 10
#define READ_SIZE ((size_t)64 << 10)
// Largest number of reads in one Client_next(). Without READS_MAX, a traced
// process could block the viewer.
#define READS_MAX 256
// Number of the request FOLLOW. All other requests have numbers from 1 on.
#define FOLLOW_REQUEST UINT32_MAX
// Maximum number of bytes that a decoded snapshot may occupy.
#define SNAPSHOT_MAX ((size_t)8 * WIRE_MAX_FRAME)
// Maximum number of bytes of requests that the process has not read yet.
#define OUT_MAX ((size_t)1 << 20)

// Holds a descriptor that the process has sent, until the viewer has taken the
// message to which the descriptor belongs.
struct PassedFile {
    // Number of messages RECORDING that the viewer has asked for and not
    // received. Refused requests for a RECORDING count, too.
    unsigned awaited;
    int fd;     // The descriptor that was received, or 0 if there is none.
    bool given; // True if the descriptor was given to a message.
};

struct Client {
    int fd;
    uint32_t next_request;
    // True if the process has closed the connection. The buffer `in` may still
    // contain messages.
    bool ended;
    struct Message hello;
    // The newest snapshot, or NULL. The next message CHANGES contains the
    // changes since this snapshot.
    struct Snapshot *base;
    struct Bytes in;
    size_t taken; // Number of bytes of `in` that are decoded.
    struct Bytes out;
    size_t sent; // Number of bytes of `out` that are sent.
    // Descriptor that is sent with the byte number passed_at of `out`; 0 if
    // there is none.
    int passed;
    size_t passed_at;
    struct PassedFile received; // The file of a RECORDING.
};

static long now_ms(void)
{
    return (long)(Now_ns(CLOCK_MONOTONIC) / 1000000);
}

// --- The descriptor of a recording

static void close_received(struct PassedFile *passed)
{
    if (passed->fd)
        close(passed->fd);
    passed->fd = 0;
    passed->given = false;
}

// Receives bytes as Socket_receive does. If the viewer waits for a descriptor,
// keeps a descriptor that comes with the bytes. If the viewer waits for no
// descriptor, the kernel drops it. The descriptor of an earlier message is
// closed.
static long receive_bytes(struct PassedFile *passed, int socket, void *data,
                          size_t size)
{
    int fd = 0;
    long got;

    if (passed->given)
        close_received(passed);
    got = passed->awaited ? Socket_receive_file(socket, data, size, &fd)
                          : Socket_receive(socket, data, size);
    if (fd && passed->fd)
        // The second descriptor is closed, because only one message waits for a
        // descriptor.
        close(fd);
    else if (fd)
        passed->fd = fd;
    return got;
}

// Gives the received descriptor to a message of the type RECORDING. The
// descriptor stays open until bytes are received again.
static void give_received(struct PassedFile *passed, struct Message *message)
{
    if (message->type != MESSAGE_RECORDING || passed->given)
        return;
    message->descriptor = passed->fd;
    passed->given = true;
    passed->awaited -= passed->awaited > 0;
}

// --- Bytes

static void drop_passed(struct Client *client)
{
    if (client->passed)
        close(client->passed);
    client->passed = 0;
}

// Sends bytes of the buffer `out`. Returns the same as Socket_send. The
// descriptor of a request is sent with the first byte of the request.
static long send_some(struct Client *client)
{
    const uint8_t *from = client->out.data + client->sent;
    size_t size = client->out.size - client->sent;
    long sent;

    if (!client->passed)
        return Socket_send(client->fd, from, size);
    if (client->sent < client->passed_at)
        return Socket_send(client->fd, from, client->passed_at - client->sent);
    sent = Socket_send_file(client->fd, from, size, client->passed);
    if (sent > 0)
        drop_passed(client);
    return sent;
}

static int flush(struct Client *client)
{
    struct Bytes *out = &client->out;

    while (client->sent < out->size) {
        long sent = send_some(client);

        if (sent == -EAGAIN || sent == -ENOBUFS)
            return 0;
        if (sent < 0)
            return -EPIPE;
        client->sent += (size_t)sent;
    }
    Bytes_clear(out);
    client->sent = 0;
    return 0;
}

// Removes the decoded bytes from the buffer `in`, so that it stays about as
// small as one frame.
static void compact(struct Client *client)
{
    struct Bytes *in = &client->in;

    if (!client->taken)
        return;
    in->size -= client->taken;
    memmove(in->data, in->data + client->taken, in->size);
    client->taken = 0;
}

// Receives bytes. Returns 1 if bytes have been received, 0 if none have
// arrived, or -errno.
static int receive(struct Client *client)
{
    struct Bytes *in = &client->in;
    uint8_t *room;
    long got;

    compact(client);
    room = Bytes_extend(in, READ_SIZE);
    if (!room)
        return -ENOMEM;
    got = receive_bytes(&client->received, client->fd, room, READ_SIZE);
    in->size -= READ_SIZE - (size_t)(got > 0 ? got : 0);
    if (got > 0)
        return 1;
    if (got == -EAGAIN)
        return 0;
    client->ended = true;
    return -EPIPE;
}

static int decode(struct Client *client, struct Message *message)
{
    const struct Bytes *in = &client->in;
    long used;

    if (client->taken == in->size) {
        memset(message, 0, sizeof(*message));
        return 0;
    }
    used = Message_decode(message, in->data + client->taken,
                          in->size - client->taken, WIRE_MAX_FRAME);
    if (used > 0)
        client->taken += (size_t)used;
    give_received(&client->received, message);
    return used > 0 ? 1 : used == -EMSGSIZE ? -EPROTO : (int)used;
}

// Asks the process for a whole snapshot now and for changes later. An older
// Ocular does not know the request FOLLOW and continues to send whole
// snapshots.
static int follow(struct Client *client)
{
    const struct Message ask = {.type = MESSAGE_FOLLOW,
                                .request = FOLLOW_REQUEST};

    return Message_encode(&client->out, &ask);
}

// Turns a message CHANGES into a message SNAPSHOT. Returns 1 if the caller of
// Client_next gets the message, 0 if not, or -errno.
static int assemble(struct Client *client, struct Message *message)
{
    struct Snapshot *base = client->base, *next = message->snapshot;
    int error = 0;

    if (message->request == FOLLOW_REQUEST)
        // The client works with both answers to FOLLOW, which are REPLY and
        // ERROR.
        return 0;
    if (!next)
        return 1;
    if (message->type == MESSAGE_CHANGES) {
        if (!base || message->changes->base_s != base->uptime_s)
            return follow(client);
        error = Changes_apply(message->changes, base, next);
        if (!error && next->function_count != next->functions_total)
            return follow(client);
        if (!error && Snapshot_bytes(next) > SNAPSHOT_MAX)
            error = -EPROTO;
        message->type = MESSAGE_SNAPSHOT;
    }
    Snapshot_free(base);
    client->base = error ? NULL : Snapshot_hold(next);
    return error ? error : 1;
}

static int next(struct Client *client, struct Message *message)
{
    int got;

    while ((got = decode(client, message)) > 0) {
        int mine = assemble(client, message);

        if (mine > 0)
            return mine;
        Message_release(message);
        if (mine < 0)
            return mine;
    }
    return got;
}

int Client_next(struct Client *client, struct Message *message)
{
    int got = 1, decoded;

    // A process may have sent bytes before it ended. They can still be read.
    if (!client->ended)
        (void)flush(client);
    for (unsigned reads = 0;; reads++) {
        decoded = next(client, message);
        if (decoded)
            return decoded;
        if (client->ended)
            return -EPIPE;
        if (reads == READS_MAX)
            // If there are more bytes to read, the socket stays readable.
            return 0;
        got = receive(client);
        if (got <= 0 && got != -EPIPE)
            return got;
    }
}

int Client_wait(struct Client *client, struct Message *message, int timeout_ms)
{
    long deadline = now_ms() + timeout_ms;

    for (;;) {
        struct pollfd polled = {.fd = client->fd, .events = POLLIN};
        int got = Client_next(client, message);
        long left = deadline - now_ms();

        if (got)
            return got;
        if (client->out.size)
            polled.events |= POLLOUT;
        if (left <= 0 || poll(&polled, 1, (int)left) < 0)
            // poll() also fails if a signal has arrived. After a signal, the
            // caller may want to stop waiting.
            return 0;
    }
}

int Client_request(struct Client *client, struct Message *request)
{
    size_t at = client->out.size;
    int error, copy = 0;

    if (client->ended)
        return -EPIPE;
    if (client->out.size - client->sent > OUT_MAX ||
        (request->descriptor && client->passed))
        return -EAGAIN;
    if (request->descriptor)
        copy = fcntl(request->descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0)
        return -errno;
    request->request = ++client->next_request;
    client->received.awaited += request->type == MESSAGE_HANDOUT;
    error = Message_encode(&client->out, request);
    if (copy && error)
        close(copy);
    if (error)
        return error;
    if (copy) {
        client->passed = copy;
        client->passed_at = at;
    }
    return flush(client);
}

int Client_fd(const struct Client *client)
{
    return client->fd;
}

const struct Message *Client_hello(const struct Client *client)
{
    return &client->hello;
}

// --- The beginning

static int connect_to(const struct Served *served, long deadline)
{
    struct Peer peer;
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    int fd = Socket_connect(served->path, &peer);

    while (fd == -EAGAIN && now_ms() < deadline) {
        nanosleep(&pause, NULL);
        fd = Socket_connect(served->path, &peer);
    }
    if (fd < 0)
        return fd == -EAGAIN ? -ETIMEDOUT : fd;
    if (served->pid && peer.pid && peer.pid != served->pid) {
        // The process id or the path belongs to another process by now.
        close(fd);
        return -ECONNREFUSED;
    }
    return fd;
}

static int explain_connect(const struct Served *served, int error, char *why,
                           size_t why_size)
{
    int pid = (int)served->pid;

    if (error == -ECONNREFUSED || error == -ENOENT)
        snprintf(why, why_size, "process %d does not serve any more", pid);
    else if (error == -EACCES || error == -EPERM)
        snprintf(why, why_size,
                 "the socket of process %d may not be used by user %u: run "
                 "ocular-top as the user of that process, or as root",
                 pid, (unsigned)geteuid());
    else
        snprintf(why, why_size, "cannot connect to process %d at %s: %s", pid,
                 served->path, strerror(-error));
    return error;
}

static int say_hello(struct Client *client)
{
    char version[] = OCULAR_VERSION;
    struct Message hello = {.type = MESSAGE_HELLO,
                            .version = WIRE_VERSION,
                            .number = (uint64_t)getpid(),
                            .text = version};
    int error = Message_encode(&client->out, &hello);

    if (!error)
        // If the process has refused the connection, its reason can still be
        // read.
        (void)flush(client);
    return error;
}

static int check_hello(const struct Client *client, pid_t pid, char *why,
                       size_t why_size)
{
    const struct Message *hello = &client->hello;
    const char *text = hello->text ? hello->text : "?";

    if (hello->type == MESSAGE_ERROR) {
        snprintf(why, why_size, "process %d refuses: %.300s", (int)pid, text);
        return hello->number && hello->number < 4096 ? -(int)hello->number
                                                     : -ECONNREFUSED;
    }
    if (hello->type != MESSAGE_HELLO) {
        snprintf(why, why_size, "process %d does not begin with a hello",
                 (int)pid);
        return -EPROTO;
    }
    if (hello->version == WIRE_VERSION)
        return 0;
    snprintf(why, why_size,
             "process %d speaks protocol %u (Ocular %.60s), this ocular-top "
             "%s speaks %d: use the ocular-top that came with its Ocular",
             (int)pid, (unsigned)hello->version, text, OCULAR_VERSION,
             WIRE_VERSION);
    return -EPROTONOSUPPORT;
}

// Checks the hello of the process. `got` is the result of reading the hello.
// Returns 0 if the connection can be used, or -errno.
static int settle(struct Client *client, pid_t pid, int got, char *why,
                  size_t why_size)
{
    int error = got > 0 ? check_hello(client, pid, why, why_size) : got;

    // The request FOLLOW is sent together with the first other request.
    if (got > 0)
        return error ? error : follow(client);
    if (got == 0)
        snprintf(why, why_size,
                 "process %d does not answer: is it stopped, or in a debugger?",
                 (int)pid);
    else if (got == -EPIPE)
        snprintf(why, why_size, "process %d has just stopped serving",
                 (int)pid);
    else
        snprintf(why, why_size, "process %d does not speak Ocular's protocol",
                 (int)pid);
    return got ? got : -ETIMEDOUT;
}

// Connects to a traced process and sends the hello.
static int begin(struct Client **out, const struct Served *served,
                 long deadline, char *why, size_t why_size)
{
    struct Client *client = calloc(1, sizeof(*client));
    int error;

    *out = NULL;
    why[0] = '\0';
    if (!client) {
        snprintf(why, why_size, "no memory for a connection");
        return -ENOMEM;
    }
    client->fd = connect_to(served, deadline);
    error = client->fd < 0 ? explain_connect(served, client->fd, why, why_size)
                           : say_hello(client);
    if (error) {
        Client_close(client);
        return error;
    }
    *out = client;
    return 0;
}

int Client_open(struct Client **out, const struct Served *served, char *why,
                size_t why_size)
{
    long deadline = now_ms() + OPEN_MS;
    int error = begin(out, served, deadline, why, why_size), got = 0;
    struct Client *client = *out;

    if (error)
        return error;
    while (!got && now_ms() < deadline)
        got = Client_wait(client, &client->hello, (int)(deadline - now_ms()));
    error = settle(client, served->pid, got, why, why_size);
    if (!error)
        return 0;
    Client_close(client);
    *out = NULL;
    return error;
}

int Client_begin(struct Client **out, const struct Served *served, char *why,
                 size_t why_size)
{
    return begin(out, served, 0, why, why_size);
}

int Client_greet(struct Client *client, pid_t pid, char *why, size_t why_size)
{
    int got = Client_next(client, &client->hello);
    int error = got ? settle(client, pid, got, why, why_size) : 0;

    return error ? error : got;
}

void Client_close(struct Client *client)
{
    if (!client)
        return;
    if (client->fd >= 0)
        close(client->fd);
    drop_passed(client);
    close_received(&client->received);
    Message_release(&client->hello);
    Snapshot_free(client->base);
    Bytes_release(&client->in);
    Bytes_release(&client->out);
    free(client);
}
