// SPDX-License-Identifier: MIT
// Tests ipc/server by real sockets. Some viewers are good, some slow and some
// broken, and the file system changes during the tests.
#include "ipc/base/now.h"
#include "ipc/client.h"
#include "ipc/server.h"
#include "ipc/socket.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/rest.h"
#include "tests/unit.h"

struct Tracer {
    struct Server *server;
    struct Snapshot *_Atomic snapshot;
    const struct Snapshot *given;
    // If true, the tracer counts requests for snapshots, and publishes nothing.
    bool mute;
    atomic_uint wants, firsts, gets, puts, viewers, requests;
    atomic_uint_fast64_t viewer; // The viewer that has sent the last request.
    struct Message request;      // A copy of the last request without its text.
};

static void hear_want(void *context, bool first)
{
    struct Tracer *tracer = context;

    tracer->firsts += first;
    tracer->wants++;
    if (!tracer->mute && tracer->server)
        Server_notify(tracer->server);
}

static const struct Snapshot *give(void *context)
{
    struct Tracer *tracer = context;

    tracer->gets++;
    tracer->given = tracer->snapshot;
    return tracer->given;
}

static void take_back(void *context, const struct Snapshot *snapshot)
{
    struct Tracer *tracer = context;

    assert_ptr_equal(snapshot, tracer->given);
    tracer->puts++;
}

static void hear_request(void *context, uint64_t viewer,
                         const struct Message *message)
{
    struct Tracer *tracer = context;

    tracer->request = *message;
    tracer->viewer = viewer;
    tracer->requests++;
}

static void count(void *context, unsigned viewers)
{
    ((struct Tracer *)context)->viewers = viewers;
}

static struct ServerSource source_of(struct Tracer *tracer)
{
    return (struct ServerSource){.context = tracer,
                                 .want = hear_want,
                                 .get = give,
                                 .put = take_back,
                                 .request = hear_request,
                                 .viewers = count};
}

#define LIMIT_MS 60000 // ms; longest wait for messages that come soon

static char directory[64];

static struct Snapshot *snapshot_of(size_t functions)
{
    struct Snapshot *snapshot = Snapshot_new();
    struct Function *items =
        Snapshot_alloc(snapshot, functions * sizeof(*items));

    snapshot->schema = SNAPSHOT_SCHEMA;
    snapshot->pid = (uint64_t)getpid();
    for (size_t i = 0; i < functions; i++) {
        items[i].id = i + 1;
        items[i].name = "some.function.of.a.module";
        items[i].file = "/usr/lib/python3/some/module.py";
    }
    snapshot->functions = items;
    snapshot->function_count = functions;
    return snapshot;
}

static void start(struct Tracer *tracer, size_t functions)
{
    struct ServerSource source = source_of(tracer);
    char why[256] = "";

    memset(tracer, 0, sizeof(*tracer));
    tracer->snapshot = snapshot_of(functions);
    if (Server_open(&tracer->server, &source, "9.9", why, sizeof(why)))
        fail_msg("Server_open: %s", why);
}

static void halt(struct Tracer *tracer)
{
    Server_close(tracer->server, 100);
    assert_int_equal(tracer->gets, tracer->puts);
    Snapshot_free(tracer->snapshot);
}

static struct Served place_of(const struct Tracer *tracer)
{
    struct Served served = {.pid = getpid(), .uid = getuid()};

    snprintf(served.path, sizeof(served.path), "%s",
             Server_path(tracer->server));
    return served;
}

// A viewer gives up after two seconds. A busy machine can need longer, so
// several viewers try to connect.
static struct Client *join(const struct Tracer *tracer)
{
    struct Served served = place_of(tracer);
    struct Client *client;
    char why[256];

    for (int i = 0; i < 30; i++)
        if (Client_open(&client, &served, why, sizeof(why)) == 0)
            return client;
    fail_msg("Client_open: %s", why);
    return NULL;
}

static int connect_raw(const struct Tracer *tracer)
{
    struct Peer peer;
    int fd = Socket_connect(Server_path(tracer->server), &peer);

    assert_true(fd >= 0);
    return fd;
}

// Spins for `ms`, and returns the ns of CPU time that the thread has got.
static uint64_t spin_ms(unsigned ms)
{
    uint64_t used = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t until = Now_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);

    while (Now_ns(CLOCK_MONOTONIC) < until)
        continue;
    return Now_ns(CLOCK_THREAD_CPUTIME_ID) - used;
}

// Waits up to a minute until another thread makes a condition true.
#define EVENTUALLY(condition)                                                  \
    do {                                                                       \
        for (int tries_ = 0; tries_ < LIMIT_MS / 10 && !(condition); tries_++) \
            rest_ms(10);                                                       \
        assert_true(condition);                                                \
    } while (0)

static void expect(struct Client *client, struct Message *message,
                   unsigned type)
{
    int got = Client_wait(client, message, 5000);

    assert_int_equal(got, 1);
    assert_int_equal(message->type, type);
}

static void ask(struct Client *client, unsigned type, double value)
{
    struct Message request = {.type = type, .value = value};

    assert_int_equal(Client_request(client, &request), 0);
}

static void set_up(void), tear_down(void);

TEST_WITH(test_answers_too_large_become_errors, set_up, tear_down)
{
    struct Tracer tracer;
    struct Client *client;
    struct Message message, answer = {.type = MESSAGE_EXPORT, .request = 5};
    char *text = malloc(WIRE_MAX_REQUEST + 1);

    memset(text, 'x', WIRE_MAX_REQUEST);
    text[WIRE_MAX_REQUEST] = '\0';
    answer.text = text;
    start(&tracer, 1);
    tracer.mute = true;
    client = join(&tracer);
    ask(client, MESSAGE_BUDGET, 0);
    EVENTUALLY(tracer.requests == 1);
    Server_answer(tracer.server, tracer.viewer, &answer);
    expect(client, &message, MESSAGE_ERROR);
    assert_int_equal(message.number, EMSGSIZE);
    assert_int_equal(message.request, 5);
    Message_release(&message);
    Client_close(client);
    halt(&tracer);
    free(text);
}

// If viewers connect and disconnect without end, the server accepts only one
// viewer at a time. So these viewers take only a bounded share of a core. Many
// viewers that connect only once are not delayed.
TEST_WITH(test_a_storm_is_slowed_down, set_up, tear_down)
{
    enum { AT_ONCE = 256, STORM = 300 };
    struct Tracer tracer;
    struct Client *client;
    double began;
    char byte;

    start(&tracer, 1);
    client = join(&tracer);
    began = Now_s(CLOCK_MONOTONIC);
    for (int i = 0; i < STORM; i++) {
        int fd = connect_raw(&tracer);

        while (Socket_receive(fd, &byte, 1) == -EAGAIN)
            usleep(500); // until the server has accepted the viewer
        close(fd);
    }
    assert_true(Now_s(CLOCK_MONOTONIC) - began > (STORM - AT_ONCE) * 0.019);
    Client_close(client);
    halt(&tracer);
}

TEST_WITH(test_one_that_reads_no_answers, set_up, tear_down)
{
    static char text[32 << 10];
    struct Message ask = {.type = MESSAGE_BUDGET};
    struct Message answer = {.type = MESSAGE_REPLY, .text = text};
    struct Tracer tracer;
    struct Client *client;

    memset(text, 'x', sizeof text - 1);
    start(&tracer, 1);
    tracer.mute = true;
    client = join(&tracer);
    assert_int_equal(Client_request(client, &ask), 0);
    EVENTUALLY(tracer.requests == 1);
    // The server disconnects this viewer, although the viewer reads nothing.
    EVENTUALLY((Server_answer(tracer.server, tracer.viewer, &answer),
                tracer.viewers == 0));
    Client_close(client);
    halt(&tracer);
}

struct Reader {
    struct Client *client;
    unsigned snapshots, ends;
};

static void *read_to_the_end(void *argument)
{
    struct Reader *reader = argument;
    struct Message message;

    while (Client_wait(reader->client, &message, LIMIT_MS) > 0) {
        reader->snapshots += message.type == MESSAGE_SNAPSHOT;
        reader->ends += message.type == MESSAGE_END;
        Message_release(&message);
        rest_ms(20);
    }
    return NULL;
}

// The snapshot is larger than a socket's buffer. Closing the server waits for a
// viewer that reads. tests/e2e/test_protocol.py has viewers that never read.
TEST_WITH(test_close_waits_for_readers, set_up, tear_down)
{
    struct Tracer tracer;
    struct Reader reader = {.snapshots = 0};
    pthread_t thread;
    double begin;

    start(&tracer, 20000);
    reader.client = join(&tracer);
    pthread_create(&thread, NULL, read_to_the_end, &reader);
    EVENTUALLY(tracer.viewers == 1);
    rest_ms(100);
    begin = Now_s(CLOCK_MONOTONIC);
    Server_close(tracer.server, 30000);
    assert_true(Now_s(CLOCK_MONOTONIC) - begin < 25);
    pthread_join(thread, NULL);
    assert_true(reader.snapshots >= 1);
    assert_int_equal(reader.ends, 1);
    Client_close(reader.client);
    Snapshot_free(tracer.snapshot);
}

static void own_path(char path[ADDRESS_MAX])
{
    snprintf(path, ADDRESS_MAX, "%s/%d.sock", directory, (int)getpid());
}

static atomic_bool enough;

static void *connect_again_and_again(void *argument)
{
    const struct Served *served = argument;
    struct Client *client;
    struct Message message;
    char why[256];

    while (!enough) {
        if (Client_open(&client, served, why, sizeof(why)) < 0) {
            rest_ms(1);
            continue;
        }
        if (Client_wait(client, &message, 5) > 0)
            Message_release(&message);
        Client_close(client);
    }
    return NULL;
}

TEST_WITH(test_close_while_viewers_connect, set_up, tear_down)
{
    struct Tracer tracer;
    struct Served served;
    pthread_t threads[4];

    enough = false;
    start(&tracer, 50);
    served = place_of(&tracer);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, connect_again_and_again, &served);
    for (int i = 0; i < 20; i++) {
        rest_ms(20);
        halt(&tracer);
        start(&tracer, 50);
    }
    enough = true;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    halt(&tracer);
}

TEST_WITH(test_comes_back_when_its_directory_is_removed, set_up, tear_down)
{
    struct Tracer tracer;
    struct Client *before, *after;
    struct Message message;
    char path[ADDRESS_MAX];
    int tries = 0;

    start(&tracer, 1);
    own_path(path);
    before = join(&tracer);
    do // the server can make the socket again between these two calls
        unlink(path);
    while (rmdir(directory) != 0 && tries++ < 100);
    assert_true(tries < 100);
    EVENTUALLY(access(path, F_OK) == 0);
    after = join(&tracer);
    expect(after, &message, MESSAGE_SNAPSHOT);
    Message_release(&message);
    EVENTUALLY(tracer.viewers == 2); // the old connection still works
    expect(before, &message, MESSAGE_SNAPSHOT);
    Message_release(&message);
    Client_close(before);
    Client_close(after);
    halt(&tracer);
    assert_int_equal(access(path, F_OK), -1);
}

TEST_WITH(test_out_of_descriptors, set_up, tear_down)
{
    struct Tracer tracer;
    struct rlimit before, tight;
    struct Peer peer;
    uint64_t used, spun;
    int fds[8];
    struct Client *client;

    start(&tracer, 1);
    rest_ms(20);
    getrlimit(RLIMIT_NOFILE, &before);
    tight = before;
    fds[0] = dup(0);
    // The limit of descriptors is high enough for the viewers' ends of the
    // connections, but not for the server's ends.
    tight.rlim_cur = (rlim_t)fds[0] + 1;
    close(fds[0]);
    setrlimit(RLIMIT_NOFILE, &tight);
    fds[0] = Socket_connect(Server_path(tracer.server), &peer);
    assert_true(fds[0] >= 0);
    used = Server_cpu_ns(tracer.server);
    spun = spin_ms(500);
    used = Server_cpu_ns(tracer.server) - used;
    setrlimit(RLIMIT_NOFILE, &before);
    // The server uses less CPU time than a loop without sleeping would use.
    assert_true(used < spun / 5);
    // The server accepts viewers again as soon as the limit allows it.
    client = join(&tracer);
    Client_close(client);
    close(fds[0]);
    halt(&tracer);
}

static void set_up(void)
{
    snprintf(directory, sizeof(directory), "/tmp/ocular-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("OCULAR_DIR", directory, 1), 0);
}

static void tear_down(void)
{
    // rmdir() fails if a file is left in the directory.
    assert_int_equal(rmdir(directory), 0);
}
