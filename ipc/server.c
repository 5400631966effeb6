// SPDX-License-Identifier: MIT
// The server's thread: a poll loop over a listening socket, an eventfd that
// other threads ring, and the viewers. Other threads reach it through `fresh`,
// `stopping` and the list of answers, nothing else.
#define _GNU_SOURCE 1 // pthread_setname_np
#include "ipc/server.h"

#include "ipc/address.h"
#include "ipc/socket.h"
#include "ipc/viewer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VIEWERS_MAX 128
#define STACK_SIZE ((size_t)256 << 10)
#define RATE_DEFAULT_MS 1000
#define RATE_MIN_S 0.1
#define RATE_MAX_S 60.0
#define HELLO_MS 5000      // to say hello
#define LAST_WORDS_MS 1000 // to take the error that ends a connection
#define CHECK_MS 2000      // between looks at our own path
#define ACCEPT_PAUSE_MS 1000
#define READS_PER_TURN 16 // of one viewer, so that it holds up nobody

// An answer on its way from another thread to a viewer's queue.
struct Answer {
    struct Answer *next;
    uint64_t viewer;
    struct Bytes bytes;
};

// Paths are kept until the end: Server_path() hands them out.
struct Path {
    struct Path *older;
    char text[ADDRESS_MAX];
};

struct Server {
    struct ServerSource source;
    char version[64];
    pid_t pid;
    pthread_t thread;
    clockid_t cpu_clock;
    int wake;            // eventfd, rung by ring()
    atomic_int listener; // replaced by the thread when the path vanishes
    dev_t device;        // of the socket's inode, to see that it is still ours
    ino_t inode;
    _Atomic(struct Path *) path;
    atomic_bool fresh;    // set by Server_notify, taken by publish()
    atomic_bool stopping; // set by Server_close, read by the loop
    unsigned wait_ms;     // written before stopping
    atomic_bool busy;     // the thread may be changing what follows
    pthread_mutex_t lock; // of the answers
    struct Answer *answers;
    struct Answer **answers_end;
    // The thread's own:
    struct Viewer viewers[VIEWERS_MAX];
    unsigned greeted;
    uint64_t next_id;
    uint64_t accept_at_ms; // no accept before: descriptors were out
    uint64_t check_at_ms;
};

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void ring(struct Server *server)
{
    uint64_t one = 1;
    ssize_t written = write(server->wake, &one, sizeof(one));

    (void)written; // full means that it rings already
}

static bool is_open(const struct Viewer *viewer)
{
    return viewer->fd >= 0;
}

static bool is_served(const struct Viewer *viewer)
{
    return is_open(viewer) && viewer->greeted && !viewer->closing;
}

// --- Viewers come and go

static void count_viewers(struct Server *server, int change)
{
    server->greeted += (unsigned)change;
    // Whoever closes us waits and may hold what the callback needs.
    if (!atomic_load(&server->stopping))
        server->source.viewers(server->source.context, server->greeted);
}

static void drop(struct Server *server, struct Viewer *viewer)
{
    bool greeted = viewer->greeted;

    Viewer_close(viewer);
    if (greeted)
        count_viewers(server, -1);
}

// An error in words; `closing`: and then the end of the connection.
__attribute__((format(printf, 5, 6))) static void
refuse(struct Viewer *viewer, uint32_t request, int error, bool closing,
       const char *format, ...)
{
    struct Message message = {.type = MESSAGE_ERROR, .request = request};
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    message.number = (uint64_t)error;
    message.text = text;
    if (Viewer_say(viewer, &message) < 0 || closing) {
        viewer->closing = true;
        viewer->waiting = false;
        viewer->deadline_ms = now_ms() + LAST_WORDS_MS;
    }
}

static struct Viewer *free_slot(struct Server *server)
{
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        if (!is_open(&server->viewers[i]))
            return &server->viewers[i];
    }
    return NULL;
}

// One that gets no slot: an error as far as it goes, and out.
static void turn_away(int fd, int error, char *words)
{
    struct Message message = {
        .type = MESSAGE_ERROR, .number = (uint64_t)error, .text = words};
    struct Viewer viewer;

    Viewer_open(&viewer, fd, 0);
    if (Viewer_say(&viewer, &message) == 0)
        Viewer_flush(&viewer);
    Viewer_close(&viewer);
}

static void welcome(struct Server *server, int fd, const struct Peer *peer)
{
    char others[] = "only the user who runs this process, or root, may look";
    char full[] = "this process has 128 viewers already: close one";
    struct Message hello = {.type = MESSAGE_HELLO,
                            .version = WIRE_VERSION,
                            .number = (uint64_t)server->pid,
                            .text = server->version};
    struct Viewer *viewer = free_slot(server);

    if (peer->uid != 0 && peer->uid != geteuid()) {
        turn_away(fd, EACCES, others);
        return;
    }
    if (!viewer) {
        turn_away(fd, EUSERS, full);
        return;
    }
    Viewer_open(viewer, fd, ++server->next_id);
    viewer->period_ms = RATE_DEFAULT_MS;
    viewer->deadline_ms = now_ms() + HELLO_MS;
    if (Viewer_say(viewer, &hello) < 0)
        drop(server, viewer);
}

static void accept_viewers(struct Server *server, uint64_t now)
{
    struct Peer peer;
    int fd = 0;

    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        fd = Socket_accept(server->listener, &peer);
        if (fd < 0)
            break;
        welcome(server, fd, &peer);
    }
    // Out of descriptors or memory: the one who waits keeps the socket
    // readable, so look away for a while.
    if (fd < 0 && fd != -EAGAIN)
        server->accept_at_ms = now + ACCEPT_PAUSE_MS;
}

// --- Requests

static void greet(struct Server *server, struct Viewer *viewer,
                  const struct Message *message)
{
    if (message->type != MESSAGE_HELLO) {
        refuse(viewer, message->request, EPROTO, true,
               "a connection begins with a hello");
        return;
    }
    if (message->version != WIRE_VERSION) {
        refuse(viewer, message->request, EPROTONOSUPPORT, true,
               "this process speaks protocol %d (Ocular %s), the viewer "
               "speaks %u: use the ocular-top of that version",
               WIRE_VERSION, server->version, (unsigned)message->version);
        return;
    }
    viewer->greeted = true;
    viewer->deadline_ms = 0;
    viewer->due_ms = now_ms();
    count_viewers(server, 1);
}

static void set_rate(struct Viewer *viewer, const struct Message *message)
{
    struct Message reply = {.type = MESSAGE_REPLY,
                            .request = message->request,
                            .value = message->value};
    uint64_t now = now_ms();

    if (!(message->value >= RATE_MIN_S && message->value <= RATE_MAX_S)) {
        refuse(viewer, message->request, EINVAL, false,
               "the rate is %g to %g seconds between snapshots", RATE_MIN_S,
               RATE_MAX_S);
        return;
    }
    viewer->period_ms = (uint64_t)(message->value * 1000 + 0.5);
    if (viewer->due_ms > now + viewer->period_ms)
        viewer->due_ms = now + viewer->period_ms;
    if (Viewer_say(viewer, &reply) < 0)
        refuse(viewer, message->request, ENOBUFS, true,
               "the viewer does not read its answers");
}

static void serve(struct Server *server, struct Viewer *viewer,
                  const struct Message *message)
{
    switch (message->type) {
    case MESSAGE_RATE:
        set_rate(viewer, message);
        break;
    case MESSAGE_DETAIL:
    case MESSAGE_REARM:
    case MESSAGE_BUDGET:
    case MESSAGE_EXPORT:
    case MESSAGE_CANCEL:
        server->source.request(server->source.context, viewer->id, message);
        break;
    default:
        refuse(viewer, message->request, EOPNOTSUPP, false,
               "request %u is not known to Ocular %s", (unsigned)message->type,
               server->version);
    }
}

static void take_requests(struct Server *server, struct Viewer *viewer)
{
    struct Message message;
    int got = 0;

    while (!viewer->closing && (got = Viewer_next(viewer, &message)) > 0) {
        if (viewer->greeted)
            serve(server, viewer, &message);
        else
            greet(server, viewer, &message);
        Message_release(&message);
    }
    if (got < 0)
        refuse(viewer, 0, -got, true,
               got == -EMSGSIZE ? "a request may have %u bytes"
                                : "not Ocular's protocol (limit %u)",
               WIRE_MAX_REQUEST);
}

static void read_viewer(struct Server *server, struct Viewer *viewer)
{
    for (int i = 0; i < READS_PER_TURN && !viewer->closing; i++) {
        int more = Viewer_receive(viewer);

        take_requests(server, viewer);
        if (more < 0)
            drop(server, viewer);
        if (more <= 0)
            return;
    }
}

// --- Answers from other threads

static struct Answer *take_answers(struct Server *server)
{
    struct Answer *answers;

    pthread_mutex_lock(&server->lock);
    answers = server->answers;
    server->answers = NULL;
    server->answers_end = &server->answers;
    pthread_mutex_unlock(&server->lock);
    return answers;
}

static void free_answers(struct Answer *answer)
{
    while (answer) {
        struct Answer *next = answer->next;

        Bytes_release(&answer->bytes);
        free(answer);
        answer = next;
    }
}

static void hand_over(struct Server *server, const struct Answer *answer)
{
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];

        if (!is_served(viewer) || viewer->id != answer->viewer)
            continue;
        if (Viewer_say_bytes(viewer, &answer->bytes) < 0)
            refuse(viewer, 0, ENOBUFS, true,
                   "the viewer does not read its answers");
    }
}

static void deliver_answers(struct Server *server)
{
    struct Answer *answers = take_answers(server);

    for (struct Answer *answer = answers; answer; answer = answer->next)
        hand_over(server, answer);
    free_answers(answers);
}

// --- Snapshots

// The newest snapshot, encoded once for all. 0 and *frame (NULL: there is
// none yet), or -errno.
static int encode_newest(struct Server *server, struct Frame **frame)
{
    const struct ServerSource *source = &server->source;
    struct Message message = {.type = MESSAGE_SNAPSHOT};
    const struct Snapshot *snapshot = source->get(source->context);
    int error = -ENOMEM;

    *frame = NULL;
    if (!snapshot)
        return 0;
    message.snapshot = (struct Snapshot *)snapshot; // only read
    *frame = Frame_new();
    if (*frame)
        error = Message_encode(&(*frame)->bytes, &message);
    source->put(source->context, snapshot);
    if (error) {
        Frame_drop(*frame);
        *frame = NULL;
    }
    return error;
}

// Whoever is due, or soon will be, waits for the next snapshot: viewers of one
// rate fall into step, and one snapshot does for all of them. Next times are
// counted from the last ones, so that being early does not shorten a period.
static void begin_turn(struct Server *server, uint64_t now)
{
    bool due = false, wanted = false;

    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];

        due |= is_served(viewer) && viewer->due_ms <= now;
    }
    for (unsigned i = 0; due && i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];

        if (!is_served(viewer) || viewer->due_ms > now + viewer->period_ms / 4)
            continue;
        viewer->due_ms += viewer->period_ms;
        if (viewer->due_ms <= now)
            viewer->due_ms = now + viewer->period_ms;
        if (viewer->frame)
            continue; // too slow for its rate: it skips this one
        viewer->waiting = wanted = true;
    }
    if (wanted)
        server->source.want(server->source.context);
}

static void publish(struct Server *server)
{
    struct Frame *frame = NULL;
    bool wanted = false;
    int error = 0;

    for (unsigned i = 0; i < VIEWERS_MAX; i++)
        wanted |= server->viewers[i].waiting;
    // Exchanged even when nobody waits: what is fresh now is stale later.
    if (!atomic_exchange(&server->fresh, false) || !wanted)
        return;
    error = encode_newest(server, &frame);
    for (unsigned i = 0; i < VIEWERS_MAX && (frame || error); i++) {
        struct Viewer *viewer = &server->viewers[i];

        if (!viewer->waiting)
            continue;
        viewer->waiting = false;
        if (frame)
            Viewer_show(viewer, frame);
        else
            refuse(viewer, 0, -error, false,
                   error == -EMSGSIZE
                       ? "the snapshot is too large to send: trace less "
                         "(exclude=, include_only=)"
                       : "no memory for a snapshot");
    }
    Frame_drop(frame);
}

// --- Our place in the file system

static bool is_in_place(const struct Server *server, const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && status.st_dev == server->device &&
           status.st_ino == server->inode;
}

// 0 when the path is free or holds a socket that nobody listens at.
static int look_before(const char *path, char *why, size_t why_size)
{
    struct stat status;
    struct Peer peer;
    int fd;

    if (lstat(path, &status) < 0)
        return 0;
    if (!S_ISSOCK(status.st_mode)) {
        snprintf(why, why_size, "%s is in the way and no socket: remove it",
                 path);
        return -EEXIST;
    }
    fd = Socket_connect(path, &peer);
    if (fd < 0 && fd != -EAGAIN)
        return 0;
    if (fd >= 0)
        close(fd);
    snprintf(why, why_size,
             "process %d already serves at %s; set OCULAR_DIR to another "
             "directory",
             fd >= 0 ? (int)peer.pid : 0, path);
    return -EADDRINUSE;
}

static int bind_path(struct Server *server, const char *text, char *why,
                     size_t why_size)
{
    struct Path *path;
    struct stat status;
    int old, fd = look_before(text, why, why_size);

    if (fd < 0)
        return fd;
    path = calloc(1, sizeof(*path));
    fd = path ? Socket_listen(text) : -ENOMEM;
    if (fd < 0 || lstat(text, &status) < 0) {
        fd = fd < 0 ? fd : -errno;
        snprintf(why, why_size, "cannot listen at %s: %s", text, strerror(-fd));
        free(path);
        return fd;
    }
    snprintf(path->text, sizeof(path->text), "%s", text);
    path->older = atomic_load(&server->path);
    atomic_store(&server->path, path);
    server->device = status.st_dev;
    server->inode = status.st_ino;
    old = atomic_exchange(&server->listener, fd);
    if (old >= 0)
        close(old);
    return 0;
}

// Somebody has cleaned up (logind, a tmp cleaner): come back.
static void check_path(struct Server *server, uint64_t now)
{
    char path[ADDRESS_MAX], why[256];

    if (now < server->check_at_ms)
        return;
    server->check_at_ms = now + CHECK_MS;
    if (is_in_place(server, Server_path(server)))
        return;
    memcpy(path, Server_path(server), sizeof(path));
    if (Address_restore(path, server->pid) == 0)
        bind_path(server, path, why, sizeof(why));
}

static void leave_path(struct Server *server)
{
    int listener = atomic_exchange(&server->listener, -1);

    if (is_in_place(server, Server_path(server)))
        unlink(Server_path(server));
    if (listener >= 0)
        close(listener);
}

// --- The loop

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int timeout_ms(const struct Server *server, uint64_t now)
{
    uint64_t at = server->check_at_ms;

    if (server->accept_at_ms > now)
        at = earlier(at, server->accept_at_ms);
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        const struct Viewer *viewer = &server->viewers[i];

        if (is_served(viewer))
            at = earlier(at, viewer->due_ms);
        if (is_open(viewer) && viewer->deadline_ms)
            at = earlier(at, viewer->deadline_ms);
    }
    return at > now ? (int)(at - now) : 0;
}

static void wait_for_work(struct Server *server, struct pollfd *polled)
{
    uint64_t now = now_ms();
    bool accepting = server->accept_at_ms <= now;

    polled[0] = (struct pollfd){.fd = server->wake, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = accepting ? server->listener : -1,
                                .events = POLLIN};
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        const struct Viewer *viewer = &server->viewers[i];
        int events = viewer->closing ? 0 : POLLIN;

        if (Viewer_has_output(viewer))
            events |= POLLOUT;
        polled[2 + i] =
            (struct pollfd){.fd = viewer->fd, .events = (short)events};
    }
    atomic_store(&server->busy, false);
    if (poll(polled, 2 + VIEWERS_MAX, timeout_ms(server, now)) <= 0) {
        for (unsigned i = 0; i < 2 + VIEWERS_MAX; i++)
            polled[i].revents = 0;
    }
    atomic_store(&server->busy, true);
}

static void flush_viewers(struct Server *server, uint64_t now)
{
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];
        bool late = viewer->deadline_ms && viewer->deadline_ms <= now;

        if (!is_open(viewer))
            continue;
        if (Viewer_flush(viewer) < 0 || late ||
            (viewer->closing && !Viewer_has_output(viewer)))
            drop(server, viewer);
    }
}

static void turn(struct Server *server, const struct pollfd *polled)
{
    uint64_t count, now = now_ms();

    if (polled[0].revents && read(server->wake, &count, sizeof(count)) < 0)
        count = 0; // somebody else's ring: look anyway
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];

        if (!is_open(viewer) || !polled[2 + i].revents)
            continue;
        if (!viewer->closing)
            read_viewer(server, viewer);
        else if (polled[2 + i].revents & (POLLHUP | POLLERR))
            drop(server, viewer);
    }
    if (polled[1].revents)
        accept_viewers(server, now);
    deliver_answers(server);
    begin_turn(server, now);
    publish(server);
    flush_viewers(server, now);
    check_path(server, now);
}

// --- The end

static void end_viewers(struct Server *server)
{
    struct Frame *frame = NULL;

    if (server->greeted)
        encode_newest(server, &frame);
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];

        if (is_served(viewer))
            Viewer_end(viewer, frame);
        else if (is_open(viewer) && !viewer->closing)
            drop(server, viewer);
        if (is_open(viewer))
            viewer->closing = true;
        viewer->deadline_ms = 0;
    }
    Frame_drop(frame);
}

// Waits until somebody has room, at most `left` ms. False: nobody is left.
static bool wait_for_room(struct Server *server, uint64_t left)
{
    struct pollfd polled[VIEWERS_MAX];
    bool any = false;

    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        polled[i] =
            (struct pollfd){.fd = server->viewers[i].fd, .events = POLLOUT};
        any |= is_open(&server->viewers[i]);
    }
    if (any && left)
        poll(polled, VIEWERS_MAX, left < INT_MAX ? (int)left : INT_MAX);
    return any && left;
}

static void finish(struct Server *server)
{
    uint64_t now = now_ms(), deadline = now + server->wait_ms;

    leave_path(server);
    deliver_answers(server);
    end_viewers(server);
    do {
        now = now_ms();
        flush_viewers(server, now);
    } while (wait_for_room(server, deadline > now ? deadline - now : 0));
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        if (is_open(&server->viewers[i]))
            drop(server, &server->viewers[i]);
    }
}

static void *run(void *argument)
{
    struct Server *server = argument;
    struct pollfd polled[2 + VIEWERS_MAX];

    pthread_setname_np(pthread_self(), "ocular-server");
    server->check_at_ms = now_ms() + CHECK_MS;
    for (;;) {
        wait_for_work(server, polled);
        if (atomic_load(&server->stopping))
            break;
        turn(server, polled);
    }
    finish(server);
    return NULL;
}

// All signals stay with the traced program's own threads.
static int start_thread(struct Server *server)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&server->thread, &attributes, run, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        error = pthread_getcpuclockid(server->thread, &server->cpu_clock);
    return -error;
}

// --- What other threads call

static struct Server *new_server(const struct ServerSource *source,
                                 const char *version)
{
    struct Server *server = calloc(1, sizeof(*server));

    if (!server)
        return NULL;
    server->source = *source;
    server->pid = getpid();
    snprintf(server->version, sizeof(server->version), "%s", version);
    atomic_init(&server->listener, -1);
    server->answers_end = &server->answers;
    pthread_mutex_init(&server->lock, NULL);
    for (unsigned i = 0; i < VIEWERS_MAX; i++)
        Viewer_init(&server->viewers[i]);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return server;
}

static void free_server(struct Server *server)
{
    struct Path *path = atomic_load(&server->path);

    while (path) {
        struct Path *older = path->older;

        free(path);
        path = older;
    }
    if (server->wake >= 0)
        close(server->wake);
    free(server);
}

int Server_open(struct Server **out, const struct ServerSource *source,
                const char *version, char *why, size_t why_size)
{
    struct Server *server = new_server(source, version);
    char path[ADDRESS_MAX];
    int error = server && server->wake >= 0 ? 0 : -ENOMEM;

    *out = NULL;
    if (error)
        snprintf(why, why_size, "no memory or descriptor for a server");
    else
        error = Address_prepare(path, getpid(), why, why_size);
    if (!error)
        error = bind_path(server, path, why, why_size);
    if (!error) {
        error = start_thread(server);
        if (error) {
            leave_path(server);
            snprintf(why, why_size, "cannot start a thread: %s",
                     strerror(-error));
        }
    }
    if (error && server) {
        pthread_mutex_destroy(&server->lock);
        free_server(server);
        return error;
    }
    *out = server;
    return error;
}

const char *Server_path(const struct Server *server)
{
    return atomic_load(&server->path)->text;
}

void Server_notify(struct Server *server)
{
    atomic_store(&server->fresh, true);
    ring(server);
}

void Server_answer(struct Server *server, uint64_t viewer,
                   const struct Message *message)
{
    char words[] = "the answer is too large to send";
    struct Message instead = {.type = MESSAGE_ERROR,
                              .request = message->request,
                              .number = EMSGSIZE,
                              .text = words};
    struct Answer *answer = calloc(1, sizeof(*answer));
    int error;

    if (!answer)
        return; // no memory for an answer, nor for saying so
    answer->viewer = viewer;
    error = Message_encode(&answer->bytes, message);
    if (error == -EMSGSIZE)
        error = Message_encode(&answer->bytes, &instead);
    if (error) {
        free_answers(answer);
        return;
    }
    pthread_mutex_lock(&server->lock);
    *server->answers_end = answer;
    server->answers_end = &answer->next;
    pthread_mutex_unlock(&server->lock);
    ring(server);
}

uint64_t Server_cpu_ns(struct Server *server)
{
    struct timespec used;

    if (clock_gettime(server->cpu_clock, &used) < 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void Server_close(struct Server *server, unsigned wait_ms)
{
    server->wait_ms = wait_ms;
    atomic_store(&server->stopping, true);
    ring(server);
    pthread_join(server->thread, NULL);
    free_answers(server->answers);
    pthread_mutex_destroy(&server->lock);
    free_server(server);
}

void Server_abandon(struct Server *server)
{
    int listener = atomic_load(&server->listener);
    bool busy = atomic_load(&server->busy);

    if (listener >= 0)
        close(listener);
    for (unsigned i = 0; i < VIEWERS_MAX; i++) {
        struct Viewer *viewer = &server->viewers[i];
        int fd = atomic_load(&viewer->fd);

        // The thread, which is not here any more, may have been in the middle
        // of changing its buffers: then they are left behind.
        if (!busy)
            Viewer_close(viewer);
        else if (fd >= 0)
            close(fd);
    }
    if (pthread_mutex_trylock(&server->lock) == 0)
        free_answers(server->answers);
    free_server(server);
}
