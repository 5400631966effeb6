// SPDX-License-Identifier: MIT
// Tests ipc/client by a process that sends the bytes that the test determines.
// The process sends messages in pieces, sends nonsense, sends nothing, or
// closes the connection.
#include "ipc/base/now.h"
#include "ipc/client.h"
#include "ipc/socket.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

#define LIMIT_MS 60000 // ms; a test fails if a message takes longer

static char directory[64];
static struct Served served;
static char why[512];

// All functions in this program read this clock instead of the real one.
// Client_open gives a process two seconds to answer. On a busy machine the
// simulated process could need more than these two seconds to start. So this
// clock stands still while a process has time to answer.
static atomic_bool stands;

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (!stands || id != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, id, now);
    *now = (struct timespec){10000, 0};
    return 0;
}

struct Script {
    int listener;
    struct Bytes bytes; // Bytes that the process sends first.
    size_t piece;       // Most bytes that one send takes; 0 for all bytes.
    bool mute;          // If true, the process accepts no connection.
    bool hang_up;
    int fd; // the connection that the process has accepted
};

static void send_all(struct Script *script)
{
    const struct timespec moment = {.tv_nsec = 200000};
    size_t sent = 0;

    while (sent < script->bytes.size) {
        size_t size = script->bytes.size - sent;
        long got;

        if (script->piece && size > script->piece)
            size = script->piece;
        got = Socket_send(script->fd, script->bytes.data + sent, size);
        if (got < 0 && got != -EAGAIN)
            return;
        sent += got > 0 ? (size_t)got : 0;
        if (script->piece || got < 0)
            nanosleep(&moment, NULL);
    }
}

static void *play(void *argument)
{
    struct Script *script = argument;
    struct pollfd polled = {.fd = script->listener, .events = POLLIN};
    struct Peer peer;

    if (script->mute || poll(&polled, 1, LIMIT_MS) <= 0)
        return NULL;
    script->fd = Socket_accept(script->listener, &peer);
    if (script->fd < 0)
        return NULL;
    send_all(script);
    if (script->hang_up) {
        close(script->fd);
        script->fd = -1;
    }
    return NULL;
}

static void begin(struct Script *script)
{
    memset(script, 0, sizeof(*script));
    script->fd = -1;
    Bytes_init(&script->bytes);
    snprintf(served.path, sizeof(served.path), "%s/1.sock", directory);
    served.pid = getpid();
    served.uid = getuid();
    script->listener = Socket_listen(served.path);
    assert_true(script->listener >= 0);
}

static void finish(struct Script *script)
{
    if (script->fd >= 0)
        close(script->fd);
    close(script->listener);
    unlink(served.path);
    Bytes_release(&script->bytes);
}

static void add(struct Script *script, struct Message message)
{
    assert_int_equal(Message_encode(&script->bytes, &message), 0);
}

static struct Message hello_of(uint32_t version)
{
    static char text[] = "3.1";

    return (struct Message){
        .type = MESSAGE_HELLO, .version = version, .number = 5, .text = text};
}

static int open_client(struct Script *script, struct Client **client)
{
    pthread_t thread;
    int error;

    pthread_create(&thread, NULL, play, script);
    stands = !script->mute;
    error = Client_open(client, &served, why, sizeof(why));
    stands = false;
    pthread_join(thread, NULL);
    assert_int_equal(!*client, error != 0);
    return error;
}

static void has(const char *word)
{
    if (!strstr(why, word))
        fail_msg("'%s' lacks '%s'", why, word);
}

struct Fixture {
    struct Script script;
    struct Client *client;
};

static void set_up(struct Fixture *f)
{
    snprintf(directory, sizeof(directory), "/tmp/ocular-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    begin(&f->script);
}

static void tear_down(struct Fixture *f)
{
    Client_close(f->client);
    finish(&f->script);
    assert_int_equal(rmdir(directory), 0);
}

// Connects the client to a process that says hello.
static void greet(struct Fixture *f)
{
    add(&f->script, hello_of(WIRE_VERSION));
    assert_int_equal(open_client(&f->script, &f->client), 0);
}

TEST_FIXTURE(test_newer_protocol)
{
    add(&f->script, hello_of(WIRE_VERSION + 1));
    assert_int_equal(open_client(&f->script, &f->client), -EPROTONOSUPPORT);
    has("3.1");
    has("protocol 2");
}

TEST_FIXTURE(test_refused_with_words)
{
    char words[] = "too many cooks";

    add(&f->script, (struct Message){.type = MESSAGE_ERROR,
                                     .number = EUSERS,
                                     .text = words});
    f->script.hang_up = true;
    assert_int_equal(open_client(&f->script, &f->client), -EUSERS);
    has(words);
}

TEST_FIXTURE(test_nonsense_instead_of_hello)
{
    Bytes_put(&f->script.bytes, "HTTP/1.1 400", 12);
    assert_int_equal(open_client(&f->script, &f->client), -EPROTO);
    has("protocol");
    finish(&f->script);
    begin(&f->script);
    add(&f->script, (struct Message){.type = MESSAGE_END});
    assert_int_equal(open_client(&f->script, &f->client), -EPROTO);
    has("hello");
}

TEST_FIXTURE(test_nonsense_later)
{
    static const char huge[] = "Oc\x02\0\xff\xff\xff\xff\0\0\0\0";
    static const char broken[] = "Oc\x02\0\4\0\0\0\0\0\0\0\xff\0\0\0";
    struct Message message;

    for (int i = 0; i < 2; i++) {
        add(&f->script, hello_of(WIRE_VERSION));
        Bytes_put(&f->script.bytes, i ? broken : huge, i ? 16 : 12);
        assert_int_equal(open_client(&f->script, &f->client), 0);
        assert_int_equal(Client_wait(f->client, &message, LIMIT_MS), -EPROTO);
        assert_int_equal(Client_next(f->client, &message), -EPROTO);
        Client_close(f->client);
        f->client = NULL;
        finish(&f->script);
        begin(&f->script);
    }
}

TEST_FIXTURE(test_request_numbers_and_bytes)
{
    struct Message request = {.type = MESSAGE_REARM, .number = 7}, got;
    uint8_t bytes[256];
    long size, used;

    greet(f);
    assert_int_equal(Client_request(f->client, &request), 0);
    assert_int_equal(request.request, 1);
    assert_int_equal(Client_request(f->client, &request), 0);
    assert_int_equal(request.request, 2);
    size = Socket_receive(f->script.fd, bytes, sizeof(bytes));
    used = Message_decode(&got, bytes, (size_t)size, WIRE_MAX_REQUEST);
    assert_int_equal(got.type, MESSAGE_HELLO);
    assert_int_equal(got.version, WIRE_VERSION);
    assert_int_equal(got.number, getpid());
    assert_non_null(got.text);
    Message_release(&got);
    // The client sends this request to every process, with a request number of
    // its own.
    used += Message_decode(&got, bytes + used, (size_t)(size - used),
                           WIRE_MAX_REQUEST);
    assert_int_equal(got.type, MESSAGE_FOLLOW);
    assert_true(got.request > 2);
    used += Message_decode(&got, bytes + used, (size_t)(size - used),
                           WIRE_MAX_REQUEST);
    assert_int_equal(got.request, 1);
    assert_int_equal(got.number, 7);
    assert_true(Message_decode(&got, bytes + used, (size_t)(size - used),
                               WIRE_MAX_REQUEST) > 0);
    assert_int_equal(got.request, 2);
}

// The process reads again, until nothing more comes. If a descriptor comes,
// sets *came to it, and *came_at to the number of bytes that have come by then.
static void read_all(struct Fixture *f, struct Bytes *bytes, int *came,
                     size_t *came_at)
{
    struct Message message;

    Bytes_init(bytes);
    for (int idle = 0; idle < 3;) {
        uint8_t *room = Bytes_extend(bytes, 4096);
        int passed = 0;
        long got = Socket_receive_file(f->script.fd, room, 4096, &passed);

        bytes->size -= 4096 - (size_t)(got > 0 ? got : 0);
        idle = got > 0 ? 0 : idle + 1;
        if (passed) {
            assert_int_equal(*came, 0);
            *came = passed;
            *came_at = bytes->size;
        }
        // Client_next sends further bytes of the requests.
        assert_int_equal(Client_next(f->client, &message), 0);
    }
}

// If a process reads nothing, requests wait in the client, up to a limit. When
// the process reads again, the waiting requests arrive complete.
TEST_FIXTURE(test_requests_wait)
{
    struct Message request = {.type = MESSAGE_EXPORT}, message;
    char *text = malloc(60001);
    struct Bytes bytes;
    unsigned sent = 0, seen = 0;
    size_t at = 0, came_at;
    int came = 0;

    memset(text, 'p', 60000);
    text[60000] = '\0';
    request.text = text;
    greet(f);
    while (Client_request(f->client, &request) == 0)
        assert_true(++sent < 1000);
    assert_int_equal(Client_request(f->client, &request), -EAGAIN);
    read_all(f, &bytes, &came, &came_at);
    for (long used = 1; at < bytes.size && used > 0; at += (size_t)used) {
        used = Message_decode(&message, bytes.data + at, bytes.size - at,
                              WIRE_MAX_REQUEST);
        assert_true(used > 0);
        seen += message.type == MESSAGE_EXPORT;
        Message_release(&message);
    }
    assert_int_equal(seen, sent);
    Bytes_release(&bytes);
    free(text);
}

// A descriptor is sent together with its own request, even if other requests
// wait before this request.
TEST_FIXTURE(test_a_file_goes_with_its_request)
{
    struct Message request = {.type = MESSAGE_REARM}, message;
    struct Bytes bytes;
    FILE *file = tmpfile();
    unsigned sent = 0;
    size_t came_at = 0;
    int came = 0;

    greet(f);
    while (sent < 50000) { // more bytes than a socket's buffer holds
        assert_int_equal(Client_request(f->client, &request), 0);
        sent++;
    }
    request =
        (struct Message){.type = MESSAGE_EXPORT, .descriptor = fileno(file)};
    assert_int_equal(Client_request(f->client, &request), 0);
    // One request with a descriptor already waits.
    assert_int_equal(Client_request(f->client, &request), -EAGAIN);
    fclose(file); // the client has its own copy of the descriptor
    request = (struct Message){.type = MESSAGE_CANCEL};
    assert_int_equal(Client_request(f->client, &request), 0);
    // The descriptor's own request ends at the byte `came_at` or later.
    read_all(f, &bytes, &came, &came_at);
    assert_true(came > 2);
    close(came);
    for (size_t at = 0; at < bytes.size;) {
        long used = Message_decode(&message, bytes.data + at, bytes.size - at,
                                   WIRE_MAX_REQUEST);

        assert_true(used > 0);
        if (message.type == MESSAGE_EXPORT)
            assert_true(at < came_at && at + 4096 > came_at);
        at += (size_t)used;
        Message_release(&message);
    }
    Bytes_release(&bytes);
}

static unsigned descriptors(void)
{
    DIR *open = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(open);
    while (readdir(open))
        count++;
    closedir(open);
    return count;
}

// Sends a message together with a descriptor.
static void send_file(struct Script *script, struct Message message, int file)
{
    struct Bytes bytes;

    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &message), 0);
    assert_int_equal(Socket_send_file(script->fd, bytes.data, bytes.size, file),
                     bytes.size);
    Bytes_release(&bytes);
}

// A process cannot send a viewer files for which the viewer has not asked.
TEST_FIXTURE(test_a_file_that_nobody_asked_for)
{
    struct Message recording = {.type = MESSAGE_RECORDING, .request = 1};
    struct Message request = {.type = MESSAGE_HANDOUT}, message;
    FILE *file = tmpfile();
    unsigned before;

    greet(f);
    before = descriptors();
    for (int i = 0; i < 3; i++) {
        send_file(&f->script,
                  i ? (struct Message){.type = MESSAGE_END} : recording,
                  fileno(file));
        assert_int_equal(Client_wait(f->client, &message, LIMIT_MS), 1);
        assert_int_equal(message.descriptor, 0);
        assert_int_equal(descriptors(), before);
    }
    // The viewer has cancelled the first of its two requests.
    for (int i = 0; i < 2; i++)
        assert_int_equal(Client_request(f->client, &request), 0);
    for (int i = 0; i < 2; i++) {
        send_file(&f->script, recording, fileno(file));
        assert_int_equal(Client_wait(f->client, &message, LIMIT_MS), 1);
        assert_true(message.descriptor > 2);
    }
    fclose(file);
}

static void do_nothing(int number)
{
    (void)number;
}

TEST_FIXTURE(test_a_signal_ends_the_wait)
{
    struct sigaction action = {.sa_handler = do_nothing};
    struct Message message;
    double start;

    greet(f);
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    start = Now_s(CLOCK_MONOTONIC);
    assert_int_equal(Client_wait(f->client, &message, LIMIT_MS), 0);
    assert_true(Now_s(CLOCK_MONOTONIC) - start < 30);
}
