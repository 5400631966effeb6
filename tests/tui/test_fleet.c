// SPDX-License-Identifier: MIT
// Tests tui/model/fleet with a fleet of one process. This process is the test
// itself, which serves the viewer, closes connections and accepts new ones.
#define _GNU_SOURCE 1
#include "ipc/socket.h"
#include "tests/tui/sample.h"
#include "tui/model/fleet.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit.h"

#define RATE_S .1

static char directory[64], path[128];
static int listener, connection;
static struct Bytes heard;
static struct Fleet *fleet;
static uint64_t calls; // number of calls in the newest merged snapshot

static void set_up(void)
{
    snprintf(directory, sizeof directory, "/tmp/ocular-fleet-XXXXXX");
    assert_non_null(mkdtemp(directory));
    setenv("OCULAR_DIR", directory, 1);
    snprintf(path, sizeof path, "%s/%d.sock", directory, (int)getpid());
    listener = Socket_listen(path);
    connection = -1;
    Bytes_init(&heard);
    char why[200];
    assert_int_equal(Fleet_open(&fleet, getpid(), RATE_S, why, sizeof why), 0);
}

static void tear_down(void)
{
    Fleet_close(fleet);
    close(listener);
    close(connection);
    unlink(path);
    rmdir(directory);
    Bytes_release(&heard);
}

static void send_message(struct Message message)
{
    struct Bytes bytes;
    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &message), 0);
    assert_int_equal(Socket_send(connection, bytes.data, bytes.size),
                     bytes.size);
    Bytes_release(&bytes);
}

// Sends a snapshot in which function `id` has `count` calls.
static void send_calls(double uptime_s, uint64_t id, uint64_t count)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 1});
    struct Function *function = Sample_functions(snapshot);
    snapshot->function_count = snapshot->functions_total = 1;
    snapshot->uptime_s = uptime_s;
    function->id = id;
    function->calls = count;
    function->caller_count = 0;
    snapshot->thread_count = snapshot->transition_count = 0;
    send_message(
        (struct Message){.type = MESSAGE_SNAPSHOT, .snapshot = snapshot});
    Snapshot_free(snapshot);
}

// Lets the fleet do one step. Returns the type of its next message, or 0.
static enum MessageType turn(void)
{
    struct Message message = {0};
    struct pollfd polled = {.fd = Fleet_fd(fleet), .events = POLLIN};
    poll(&polled, 1, 20);
    if (Fleet_next(fleet, &message) <= 0)
        return 0;
    enum MessageType type = message.type;
    if (type == MESSAGE_SNAPSHOT) {
        assert_int_equal(message.snapshot->function_count, 1);
        calls = message.snapshot->functions[0].calls;
    }
    Message_release(&message);
    return type;
}

static void turn_until(enum MessageType type)
{
    for (int i = 0; i < 1000; i++)
        if (turn() == type)
            return;
    fail_msg("no message %d", (int)type);
}

// Receives bytes from the viewer. Returns false if the connection is closed.
static bool receive(void)
{
    uint8_t *room = Bytes_extend(&heard, 4096);
    long got = Socket_receive(connection, room, 4096);
    heard.size -= 4096 - (size_t)(got > 0 ? got : 0);
    return got != 0;
}

// Waits for the viewer's connection. The first connection only asks whether the
// process serves viewers.
static void welcome(void)
{
    struct Peer peer;
    for (int i = 0; i < 1000; i++) {
        turn();
        int fd = Socket_accept(listener, &peer);
        if (fd < 0)
            continue;
        connection = fd;
        if (receive())
            break;
        close(fd);
    }
    char version[] = "0";
    send_message((struct Message){.type = MESSAGE_HELLO,
                                  .version = WIRE_VERSION,
                                  .number = (uint64_t)getpid(),
                                  .text = version});
}

static void hang_up(void)
{
    close(connection);
    Bytes_clear(&heard);
}

// Answers all requests of this type, and returns their number.
static int count_requests(enum MessageType type, uint64_t *number)
{
    struct Message message;
    int count = 0;
    long used;
    receive();
    for (size_t at = 0;
         (used = Message_decode(&message, heard.data + at, heard.size - at,
                                WIRE_MAX_REQUEST)) > 0;
         at += (size_t)used) {
        if (message.type == type) {
            count++;
            *number = message.number;
            send_message((struct Message){.type = MESSAGE_REPLY,
                                          .request = message.request});
        }
        Message_release(&message);
    }
    Bytes_clear(&heard);
    return count;
}

TEST_WITH(a_process_that_is_connected_again_is_counted_once, set_up, tear_down)
{
    welcome();
    send_calls(50, 7, 10);
    turn_until(MESSAGE_SNAPSHOT);
    assert_int_equal(calls, 10);
    hang_up();
    welcome();
    send_calls(52, 7, 12);
    turn_until(MESSAGE_SNAPSHOT);
    assert_int_equal(calls, 12);
    hang_up();
    welcome();
    send_calls(.1, 3, 4); // Another trace.
    turn_until(MESSAGE_SNAPSHOT);
    assert_int_equal(calls, 16);
    send_message((struct Message){.type = MESSAGE_END});
    welcome();
    send_calls(.2, 5, 1);
    turn_until(MESSAGE_SNAPSHOT);
    assert_int_equal(calls, 17);
}

TEST_WITH(only_code_that_is_there_is_armed, set_up, tear_down)
{
    uint64_t number = 0;
    struct Message rearm = {.type = MESSAGE_REARM, .number = 1};
    welcome();
    send_calls(50, 7, 10);
    turn_until(MESSAGE_SNAPSHOT);
    send_calls(51, 8, 10); // The code is loaded again.
    turn_until(MESSAGE_SNAPSHOT);
    assert_int_equal(Fleet_request(fleet, &rearm), 0);
    assert_int_equal(count_requests(MESSAGE_REARM, &number), 1);
    assert_int_equal(number, 8);
    turn_until(MESSAGE_REPLY);
}

TEST_WITH(a_silent_process_gets_the_rate_only, set_up, tear_down)
{
    uint64_t number = 0;
    struct FleetState seen;
    struct Message detail = {.type = MESSAGE_DETAIL, .number = 1};
    struct Message rate = {.type = MESSAGE_RATE, .value = .2};
    welcome();
    send_calls(50, 7, 10);
    turn_until(MESSAGE_SNAPSHOT);
    do {
        turn();
        Fleet_state(fleet, &seen);
    } while (!(seen.items[0].silent_s > 0));
    assert_int_equal(Fleet_request(fleet, &detail), 0);
    turn_until(MESSAGE_ERROR);
    assert_int_equal(Fleet_request(fleet, &rate), 0);
    turn();
    receive();
    size_t size = heard.size;
    assert_int_equal(count_requests(MESSAGE_DETAIL, &number), 0);
    assert_true(size > 0);
}
