// SPDX-License-Identifier: MIT
// Tests ipc/clients, which decides which viewer gets which snapshot, and when.
// The test uses socket pairs and a clock of its own.
#include "ipc/clients.h"
#include "ipc/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit.h"

enum { MANY = 20 };

static struct Hall {
    struct Clients clients;
    struct ServerSource source;
    struct Snapshot *snapshot;
    int ends[MANY]; // the viewers' ends of the socket pairs
    unsigned wanted;
} hall;

static void hear_want(void *context, bool first)
{
    (void)context, (void)first;
    hall.wanted++;
}

static const struct Snapshot *give(void *context)
{
    (void)context;
    return hall.snapshot;
}

static void take_back(void *context, const struct Snapshot *snapshot)
{
    (void)context, (void)snapshot;
}

static void hear_count(void *context, unsigned viewers)
{
    (void)context, (void)viewers;
}

static void read_all(uint64_t now)
{
    struct pollfd polled[CLIENTS_MAX];
    unsigned count = Clients_poll(&hall.clients, polled);

    assert_true(poll(polled, count, 0) >= 0);
    Clients_read(&hall.clients, polled, now);
}

// Connects viewers. Each viewer sends HELLO at 0 ms and reads the answer.
static void open_hall(void)
{
    const struct Message hello = {.type = MESSAGE_HELLO,
                                  .version = WIRE_VERSION};
    const struct Peer peer = {.pid = getpid(), .uid = geteuid()};
    struct Bytes bytes;

    memset(&hall, 0, sizeof hall);
    hall.source = (struct ServerSource){.context = &hall,
                                        .want = hear_want,
                                        .get = give,
                                        .put = take_back,
                                        .viewers = hear_count};
    hall.snapshot = Snapshot_new();
    assert_non_null(hall.snapshot);
    hall.snapshot->uptime_s = 1;
    Clients_init(&hall.clients, &hall.source, "9.9");
    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &hello), 0);
    for (int i = 0; i < MANY; i++) {
        int pair[2];

        assert_int_equal(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
        Clients_admit(&hall.clients, pair[0], &peer, 0);
        hall.ends[i] = pair[1];
        assert_int_equal(write(pair[1], bytes.data, bytes.size), bytes.size);
    }
    Bytes_release(&bytes);
    read_all(0);
    Clients_flush(&hall.clients, 0);
    assert_int_equal(hall.clients.greeted, MANY);
}

static void close_hall(void)
{
    Clients_release(&hall.clients);
    for (int i = 0; i < MANY; i++)
        close(hall.ends[i]);
    Snapshot_free(hall.snapshot);
}

TEST_WITH(test_one_frame_goes_to_all, open_hall, close_hall)
{
    struct Frame *frame;

    Clients_turn(&hall.clients, 0);
    assert_int_equal(hall.wanted, 1);
    Clients_publish(&hall.clients);
    frame = hall.clients.frames.whole;
    assert_non_null(frame);
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(hall.clients.viewers[i].frame, frame);
    assert_int_equal(frame->references, MANY + 1);
    Clients_flush(&hall.clients, 0);
    // Each viewer has got the complete frame.
    assert_int_equal(frame->references, 1);
    hall.snapshot->uptime_s = 2;
    Clients_turn(&hall.clients, 1000);
    Clients_publish(&hall.clients);
    // The encoder has used the memory of the old frame again.
    assert_ptr_equal(hall.clients.frames.whole, frame);
    assert_true(frame->uptime_s == 2);
    assert_int_equal(frame->references, MANY + 1);
}

// Makes a viewer ask for changes instead of whole snapshots.
static void follow(int viewer)
{
    const struct Message ask = {.type = MESSAGE_FOLLOW, .request = 1};
    struct Bytes bytes;

    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &ask), 0);
    assert_int_equal(write(hall.ends[viewer], bytes.data, bytes.size),
                     bytes.size);
    Bytes_release(&bytes);
    read_all(0);
}

// An older viewer does not ask for changes, and gets whole snapshots.
TEST_WITH(test_who_follows_has_changes, open_hall, close_hall)
{
    struct RowSet rows = {.moment = {.uptime_s = 1}};

    hall.snapshot->shared = &rows;
    follow(0);
    for (int s = 0; s < 3; s++) {
        hall.snapshot->uptime_s = rows.moment.uptime_s = s + 1;
        Clients_turn(&hall.clients, (uint64_t)s * 1000);
        Clients_publish(&hall.clients);
        for (int i = 0; i < MANY; i++)
            assert_ptr_equal(hall.clients.viewers[i].frame,
                             i == 0 && s > 0 ? hall.clients.frames.changes
                                             : hall.clients.frames.whole);
        assert_true(hall.clients.viewers[0].frame->base_s == s || s == 0);
        Clients_flush(&hall.clients, 0);
    }
    hall.snapshot->shared = NULL;
}

// A viewer reads as many bytes as arrive, and so always leaves some bytes
// unread. The buffer for answers to this viewer does not grow.
TEST_WITH(test_answers_that_wait_are_bounded, open_hall, close_hall)
{
    enum { SIZE = 60 << 10, ROUNDS = 200 };
    struct Viewer *viewer;
    struct Answer answer = {0};
    char *taken;

    viewer = &hall.clients.viewers[0];
    taken = test_malloc(SIZE);
    answer.viewer = viewer->id;
    assert_non_null(Bytes_extend(&answer.bytes, SIZE));
    memset(answer.bytes.data, 0, SIZE);
    while (viewer->control.size - viewer->control_sent < SIZE) {
        Clients_answer(&hall.clients, &answer, 0);
        assert_int_equal(Viewer_flush(viewer), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        for (long left = SIZE, got; left > 0; left -= got) {
            got = read(hall.ends[0], taken, (size_t)left);
            assert_true(got > 0 || Viewer_flush(viewer) == 0);
            got = got > 0 ? got : 0;
        }
        Clients_answer(&hall.clients, &answer, 0);
        assert_int_equal(Viewer_flush(viewer), 0);
        assert_false(viewer->closing);
        assert_true(viewer->control_sent > 0 || i == 0);
        assert_true(viewer->control.size < 10 * SIZE);
    }
    Bytes_release(&answer.bytes);
    test_free(taken);
}

// Queues an answer together with a file.
static void answer_with(uint32_t request, int file)
{
    const struct Message message = {.type = MESSAGE_RECORDING,
                                    .request = request};
    struct Answer answer = {.viewer = hall.clients.viewers[0].id, .file = file};

    Opened_note(&answer.opened, file);
    assert_int_equal(Message_encode(&answer.bytes, &message), 0);
    Clients_answer(&hall.clients, &answer, 0);
    assert_int_equal(answer.file, 0);
    Bytes_release(&answer.bytes);
}

// Receives bytes until a descriptor comes, or until nothing more comes. Returns
// the request number of the newest answer.
static uint32_t receive_file(int *file)
{
    static uint8_t data[1 << 20];
    struct Message message;
    uint32_t request = 0;
    size_t size = 0, used = 0;
    long got;

    *file = 0;
    while (!*file && (got = Socket_receive_file(hall.ends[0], data + size,
                                                sizeof data - size, file)) > 0)
        size += (size_t)got;
    while (used < size) {
        long one =
            Message_decode(&message, data + used, size - used, WIRE_MAX_FRAME);

        assert_true(one > 0);
        used += (size_t)one;
        request = message.request;
        Message_release(&message);
    }
    return request;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

// A file is sent together with its own answer, and only once. If the program
// has closed the descriptor and uses its number for a file of its own, the
// program's file is neither sent nor closed.
TEST_WITH(test_a_file_goes_with_its_answer, open_hall, close_hall)
{
    int file, second, theirs, came;

    receive_file(&came);
    Viewer_refuse(&hall.clients.viewers[0], 1, 1, "before");
    file = Opened_above(dup(fileno(tmpfile())));
    answer_with(2, file);
    second = Opened_above(dup(file)); // only one file can wait at a time
    answer_with(3, second);
    assert_false(is_open(second));
    assert_int_equal(Viewer_flush(&hall.clients.viewers[0]), 0);
    assert_false(is_open(file));
    assert_int_equal(receive_file(&came), 3);
    assert_true(came > 2);
    assert_int_equal(receive_file(&second), 0);
    assert_int_equal(second, 0);

    answer_with(4, came);
    theirs = fileno(tmpfile());
    assert_int_equal(dup2(theirs, came), came);
    assert_int_equal(Viewer_flush(&hall.clients.viewers[0]), 0);
    assert_true(is_open(came));
    assert_int_equal(receive_file(&second), 4);
    assert_int_equal(second, 0);
    close(came);
    // the viewer disconnects before the file is sent
    file = Opened_above(dup(theirs));
    answer_with(5, file);
    Clients_release(&hall.clients);
    assert_false(is_open(file));
}

// Returns the request number of the last answer to the viewer. Sets *answers to
// the number of answers.
static uint32_t last_answer(int viewer, unsigned *answers)
{
    static uint8_t data[64 << 10];
    long got = read(hall.ends[viewer], data, sizeof data), used = 0, size;
    struct Message message;
    uint32_t last = 0;

    *answers = 0;
    for (; used < got; used += size) {
        size = Message_decode(&message, data + used, (size_t)(got - used),
                              sizeof data);
        assert_true(size > 0);
        if (message.type == MESSAGE_REPLY) {
            assert_true(!last || message.request == last + 1);
            last = message.request;
            ++*answers;
        }
        Message_release(&message);
    }
    return last;
}

static void ask(int viewer, uint32_t first, uint32_t last)
{
    struct Message now = {.type = MESSAGE_NOW};
    struct Bytes bytes;

    Bytes_init(&bytes);
    for (now.request = first; now.request <= last; now.request++)
        assert_int_equal(Message_encode(&bytes, &now), 0);
    assert_int_equal(write(hall.ends[viewer], bytes.data, bytes.size),
                     bytes.size);
    Bytes_release(&bytes);
}

// The stacks of a service have hundreds of KiB. A viewer that asks for them and
// for tasks at once gets both.
TEST_WITH(test_a_request_waits_for_a_large_answer, open_hall, close_hall)
{
    enum { SIZE = 600 << 10 };
    struct Viewer *viewer = &hall.clients.viewers[0];
    struct Answer answer = {.viewer = viewer->id};
    static char taken[64 << 10];
    uint64_t asked = viewer->asked_ms;

    assert_non_null(Bytes_extend(&answer.bytes, SIZE));
    memset(answer.bytes.data, 0, SIZE);
    Clients_answer(&hall.clients, &answer, 0);
    ask(0, 1, 1);
    read_all(5);
    assert_int_equal(viewer->asked_ms, asked);
    for (int i = 0; viewer->held_ms != 7 && i < 100; i++) {
        Clients_flush(&hall.clients, 7);
        assert_true(read(hall.ends[0], taken, sizeof taken) > 0);
    }
    assert_int_equal(viewer->held_ms, 7);
    read_all(7);
    assert_true(viewer->asked_ms > asked && !viewer->closing);
    Bytes_release(&answer.bytes);
}

// All requests are answered in the end. After 256 requests, the server answers
// 50 a second. The other viewers are not delayed, and the thread sleeps between
// the answers.
TEST_WITH(test_requests_beyond_a_burst_come_late, open_hall, close_hall)
{
    enum { ALL = 1000, AT_ONCE = 256, EACH_MS = 20, LATER = 100000 };
    struct Clients *clients = &hall.clients;
    struct pollfd polled[CLIENTS_MAX];
    uint64_t now = 0, next;
    unsigned count, answers;
    uint32_t last;

    last_answer(0, &count);
    ask(0, 1, ALL);
    read_all(0);
    Clients_flush(clients, 0);
    last = last_answer(0, &answers);
    assert_int_equal(last, answers);
    assert_int_equal(answers, AT_ONCE);
    ask(1, 7, 7);
    while (last < ALL) {
        for (int i = 0; i < MANY; i++)
            clients->viewers[i].due_ms = LATER;
        next = Clients_next_ms(clients, LATER);
        assert_int_equal(next, now + EACH_MS);
        read_all(next - 1);
        Clients_flush(clients, next - 1);
        count = Clients_poll(clients, polled);
        // No descriptor is ready, so nothing wakes the server's thread.
        assert_int_equal(poll(polled, count, 0), 0);
        now = next;
        read_all(now);
        Clients_flush(clients, now);
        assert_int_equal(last_answer(0, &answers), ++last);
        assert_int_equal(answers, 1);
    }
    assert_int_equal(last_answer(1, &answers), 7);
    read_all(now += EACH_MS); // the viewer has sent no other request
    clients->viewers[0].due_ms = LATER;
    assert_int_equal(Clients_next_ms(clients, LATER), LATER);
    now += ALL * EACH_MS;
    ask(0, 1, ALL);
    read_all(now);
    Clients_flush(clients, now);
    assert_int_equal(last_answer(0, &answers),
                     AT_ONCE + 1); // hello does not count as one of these
                                   // requests
    close(hall.ends[0]);
    hall.ends[0] = dup(hall.ends[1]);
    // The viewer closes the connection while its requests still wait.
    read_all(now);
    assert_int_equal(clients->greeted, MANY - 1);
}
