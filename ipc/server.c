// SPDX-License-Identifier: MIT
// The server's thread runs a poll loop over the listening socket, the wake-up
// socket and the clients. Other threads use `fresh`, `stopping`, the list of
// answers and `order` to tell this thread what to do. A thread that sets
// `order` waits until the server's thread has carried out the order.
#include "ipc/server.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"

#include "ipc/answers.h"
#include "ipc/base/worker.h"
#include "ipc/clients.h"
#include "ipc/listener.h"
#include "ipc/wake_socket.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STACK_SIZE ((size_t)256 << 10)
// Milliseconds between two checks of the path of the server's socket.
#define CHECK_MS 2000
// If the process has no free descriptor, accept() is not called for
// ACCEPT_PAUSE_MS milliseconds.
#define ACCEPT_PAUSE_MS 1000
// Milliseconds for which the server's thread sleeps if poll() fails.
#define POLL_PAUSE_MS 100
// Milliseconds between two turns of the server's loop if the program has closed
// the wake-up socket.
#define DEAF_MS 100
// ENTRY_BURST viewers may connect at once. The server accepts further viewers
// at a rate of one per ENTRY_MS. Even endless new connections therefore cost
// the traced process almost nothing.
#define ENTRY_BURST 256
#define ENTRY_MS 20
// Number of descriptors that the server's thread polls in addition to the
// viewers: the wake-up socket, the listener, and the watch of the listener's
// path.
#define OWN_POLLED 3
#define POLLED_MAX (OWN_POLLED + CLIENTS_MAX)
#define NEVER UINT64_MAX

// An order makes the server's thread change its clients. The thread that gives
// the order waits until the work is done.
struct Order {
    // The new source of the server, or NULL if the source does not change.
    const struct ServerSource *source;
    bool farewell;
    int error; // An error with which all viewers are disconnected, or 0.
    const char *why;
    bool done;
};

struct Server {
    struct ServerSource source;
    struct Worker worker;
    struct WakeSocket wake_socket;
    // True if a new snapshot was published. Server_notify sets `fresh`, and
    // turn() clears it.
    atomic_bool fresh;
    // True if the server's thread must end. Server_pause sets `stopping`, and
    // run() reads it.
    atomic_bool stopping;
    // True while the server's thread may be changing `clients`. Server_abandon
    // reads `busy`.
    atomic_bool busy;
    struct Answers answers;
    pthread_mutex_t ordering; // Protects Server.order and Order.done.
    pthread_cond_t ordered;   // Signalled when an order is carried out.
    struct Order *order;
    // The members from `listener` on are only for the server's thread.
    struct Listener listener;
    struct Clients clients;
    uint64_t accept_at_ms; // Time before which the server accepts no viewer.
    // Time by which the number of new viewers is limited. Each new viewer moves
    // entered_ms ENTRY_MS forward.
    uint64_t entered_ms;
    uint64_t check_at_ms;
    // True if the server's socket is in its place and its removal would be
    // noticed at once.
    bool in_place;
};

static uint64_t now_ms(void)
{
    return Now_ns(CLOCK_MONOTONIC) / 1000000;
}

// Wakes the server's thread. If the program has closed an end of the wake-up
// socket, the thread is already awake because of the hang-up. But if a forked
// child still has the closed end, only Listener_touch() or the timeout of
// poll() wakes the thread.
static void ring(struct Server *server)
{
    if (!WakeSocket_wake(&server->wake_socket))
        Listener_touch(&server->listener);
}

// Forgets the descriptors that the program has closed, even if their numbers
// belong to other files now. Returns true if the program has closed any
// descriptor of the server. The server waits CHECK_MS before it opens its
// descriptors again. A program that closes all descriptors can therefore first
// open its own files, and rely on their numbers.
static bool forget_lost(struct Server *server, uint64_t now)
{
    bool lost = WakeSocket_forget_lost(&server->wake_socket);

    lost |= Listener_forget_lost(&server->listener, lost);
    if (lost) {
        server->check_at_ms = now + CHECK_MS;
        server->in_place = false;
    }
    return lost;
}

static void look_around(struct Server *server)
{
    if (server->wake_socket.read_end < 0)
        WakeSocket_open(&server->wake_socket);
    server->in_place = Listener_check(&server->listener);
}

// --- The loop

static void accept_viewers(struct Server *server, uint64_t now)
{
    struct Peer peer;
    int fd = 0;

    if (server->entered_ms + ENTRY_BURST * ENTRY_MS < now)
        server->entered_ms = now - ENTRY_BURST * ENTRY_MS;
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (server->entered_ms > now) {
            server->accept_at_ms = server->entered_ms;
            return;
        }
        fd = Socket_accept(server->listener.fd, &peer);
        if (fd < 0)
            break;
        server->entered_ms += ENTRY_MS;
        Clients_admit(&server->clients, fd, &peer, now);
    }
    // If accept() fails, the process has no free descriptor or no memory. The
    // waiting viewer keeps the socket readable, so the socket is not polled for
    // ACCEPT_PAUSE_MS.
    if (fd < 0 && fd != -EAGAIN)
        server->accept_at_ms = now + ACCEPT_PAUSE_MS;
}

static void deliver_answers(struct Server *server, uint64_t now)
{
    struct Answer *first = Answers_take(&server->answers);

    for (struct Answer *answer = first; answer; answer = answer->next)
        Clients_answer(&server->clients, answer, now);
    Answer_free(first);
}

// Returns true if nothing is traced and no connection is open. If the server is
// idle in this way, its thread sleeps without a timeout.
static bool is_idle(const struct Server *server)
{
    return server->source.notice && !Clients_is_there(&server->clients);
}

static int timeout_ms(const struct Server *server, uint64_t now)
{
    uint64_t at = server->check_at_ms;

    if (server->in_place && is_idle(server))
        at = NEVER;
    if (server->accept_at_ms > now && server->accept_at_ms < at)
        at = server->accept_at_ms;
    if (server->wake_socket.read_end < 0 && at > now + DEAF_MS)
        at = now + DEAF_MS;
    at = Clients_next_ms(&server->clients, at);
    if (at == NEVER)
        return -1;
    return at > now ? (int)(at - now) : 0;
}

static void wait_for_work(struct Server *server, struct pollfd *polled)
{
    uint64_t now = now_ms();
    bool accepting = server->accept_at_ms <= now;
    unsigned count = OWN_POLLED;
    int got;

    if (server->in_place && is_idle(server))
        // An idle server checks for lost descriptors here, because its thread
        // has no timeout at which it would notice them.
        forget_lost(server, now);
    polled[0] =
        (struct pollfd){.fd = server->wake_socket.read_end, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = accepting ? server->listener.fd : -1,
                                .events = POLLIN};
    polled[2] = (struct pollfd){.fd = server->listener.watch, .events = POLLIN};
    count += Clients_poll(&server->clients, polled + OWN_POLLED);
    atomic_store(&server->busy, false);
    got = poll(polled, count, timeout_ms(server, now));
    // poll() also fails if the program has lowered its limit of descriptors.
    if (got < 0 && errno != EINTR)
        poll(NULL, 0, POLL_PAUSE_MS);
    atomic_store(&server->busy, true);
    for (unsigned i = 0; got < 0 && i < count; i++)
        polled[i].revents = 0;
}

// Carries out an order. carry_out() is called by the server's thread. If the
// server's thread does not run, carry_out() is called by the thread that gives
// the order.
static void carry_out(struct Server *server, struct Order *order)
{
    struct Clients *clients = &server->clients;
    uint64_t now = now_ms();

    deliver_answers(server, now);
    if (order->farewell || order->error)
        Clients_part(clients, order->error, order->why, now);
    if (order->source) {
        server->source = *order->source;
        Clients_forget(clients);
        Clients_count(clients);
    }
    atomic_store(&server->fresh, false);
    order->done = true;
}

static void take_order(struct Server *server)
{
    pthread_mutex_lock(&server->ordering);
    if (server->order) {
        carry_out(server, server->order);
        server->order = NULL;
        pthread_cond_broadcast(&server->ordered);
    }
    pthread_mutex_unlock(&server->ordering);
}

static void turn(struct Server *server, const struct pollfd *polled)
{
    struct Clients *clients = &server->clients;
    uint64_t now = now_ms();
    bool called = polled[0].revents || polled[1].revents || polled[2].revents;

    if ((called || now >= server->check_at_ms) && forget_lost(server, now))
        called = false;
    if (called && polled[0].revents)
        WakeSocket_clear(&server->wake_socket);
    take_order(server);
    Clients_read(clients, polled + OWN_POLLED, now);
    if (called && polled[1].revents)
        accept_viewers(server, now);
    deliver_answers(server, now);
    Clients_turn(clients, now);
    // `fresh` is cleared even if no viewer waits for a snapshot. If `fresh`
    // stayed set, this snapshot would be sent later, when it is too old.
    if (atomic_exchange(&server->fresh, false))
        Clients_publish(clients);
    Clients_flush(clients, now);
    if (now >= server->check_at_ms || (called && polled[2].revents)) {
        server->check_at_ms = now + CHECK_MS;
        look_around(server);
    }
}

// Sends the queued bytes to the viewers, for at most `wait_ms` milliseconds.
static void finish(struct Server *server, unsigned wait_ms)
{
    struct pollfd polled[CLIENTS_MAX];
    uint64_t now = now_ms(), deadline = now + wait_ms;

    Listener_leave(&server->listener);
    deliver_answers(server, now);
    Clients_end(&server->clients);
    for (;;) {
        unsigned count;

        Clients_flush(&server->clients, now);
        count = Clients_poll(&server->clients, polled);
        now = now_ms();
        if (!count || now >= deadline)
            break;
        if (poll(polled, count, (int)(deadline - now)) < 0)
            poll(NULL, 0, 1);
        // Some viewers may have disconnected during the wait.
        Clients_read(&server->clients, polled, now);
    }
    Clients_release(&server->clients);
}

static void run(void *argument)
{
    struct Server *server = argument;
    struct pollfd polled[POLLED_MAX];

    server->check_at_ms = now_ms() + CHECK_MS;
    // run() reads `stopping` before and after the wait, because turn() may
    // clear the wake-up that Server_pause() has sent.
    while (!atomic_load(&server->stopping)) {
        wait_for_work(server, polled);
        if (!atomic_load(&server->stopping))
            turn(server, polled);
    }
}

static int start_thread(struct Server *server)
{
    forget_lost(server, now_ms());
    look_around(server);
    atomic_store(&server->stopping, false);
    return Worker_start(&server->worker, "ocular-server", run, server,
                        STACK_SIZE);
}

// After Server_pause() no thread calls the source any more.
void Server_pause(struct Server *server)
{
    atomic_store(&server->stopping, true);
    ring(server);
    Worker_join(&server->worker);
    atomic_store(&server->busy, false);
    // Closed descriptors must be forgotten before the caller closes any
    // descriptor, because their numbers may belong to other files now.
    forget_lost(server, now_ms());
}

// --- What other threads call

static void free_server(struct Server *server)
{
    Listener_release(&server->listener);
    WakeSocket_close(&server->wake_socket);
    Heap_free(server);
}

static void release_locks(struct Server *server)
{
    Answers_release(&server->answers);
    pthread_cond_destroy(&server->ordered);
    pthread_mutex_destroy(&server->ordering);
}

int Server_open(struct Server **out, const struct ServerSource *source,
                const char *version, char *why, size_t why_size)
{
    struct Server *server = Heap_zeroed(1, sizeof(*server));
    int error;

    if (!server) {
        *out = NULL;
        snprintf(why, why_size, "no memory for a server");
        return -ENOMEM;
    }
    server->source = *source;
    Clients_init(&server->clients, &server->source, version);
    Answers_init(&server->answers);
    pthread_mutex_init(&server->ordering, NULL);
    pthread_cond_init(&server->ordered, NULL);
    WakeSocket_init(&server->wake_socket);
    error = WakeSocket_open(&server->wake_socket);
    if (error)
        snprintf(why, why_size, "no pair of sockets: %s", strerror(-error));
    else
        error = Listener_open(&server->listener, why, why_size);
    // The source's callbacks may use *out as soon as the thread runs.
    *out = server;
    if (!error) {
        error = start_thread(server);
        if (error) {
            snprintf(why, why_size, "cannot start a thread: %s",
                     strerror(-error));
            Listener_leave(&server->listener);
        }
    }
    if (error) {
        *out = NULL;
        release_locks(server);
        free_server(server);
    }
    return error;
}

const char *Server_path(const struct Server *server)
{
    return Listener_path(&server->listener);
}

void Server_notify(struct Server *server)
{
    atomic_store(&server->fresh, true);
    ring(server);
}

void Server_answer(struct Server *server, uint64_t viewer,
                   const struct Message *message)
{
    // If memory is out, the viewer gets no answer to its request.
    if (Answers_push(&server->answers, viewer, message) == 0)
        ring(server);
}

static void give_order(struct Server *server, struct Order *order)
{
    pthread_mutex_lock(&server->ordering);
    while (server->order) // The previous order has not been carried out yet.
        pthread_cond_wait(&server->ordered, &server->ordering);
    if (!server->worker.started) {
        carry_out(server, order);
    } else {
        server->order = order;
        ring(server);
    }
    while (!order->done)
        pthread_cond_wait(&server->ordered, &server->ordering);
    pthread_mutex_unlock(&server->ordering);
}

void Server_turn_to(struct Server *server, const struct ServerSource *source,
                    bool farewell)
{
    struct Order order = {.source = source, .farewell = farewell};

    give_order(server, &order);
}

void Server_refuse(struct Server *server, int error, const char *why)
{
    struct Order order = {.error = error, .why = why};

    give_order(server, &order);
}

uint64_t Server_cpu_ns(struct Server *server)
{
    return Worker_cpu_ns(&server->worker);
}

int Server_resume(struct Server *server)
{
    return server->worker.started ? 0 : start_thread(server);
}

void Server_close(struct Server *server, unsigned wait_ms)
{
    Server_pause(server);
    finish(server, wait_ms < INT_MAX ? wait_ms : INT_MAX);
    release_locks(server);
    free_server(server);
}

void Server_abandon(struct Server *server)
{
    forget_lost(server, now_ms());
    Listener_abandon(&server->listener);
    // The forked child does not have the server's thread. If the server's
    // thread was changing its buffers at the time of the fork, the buffers are
    // leaked.
    Clients_abandon(&server->clients, atomic_load(&server->busy));
    Answers_abandon(&server->answers);
    free_server(server);
}
