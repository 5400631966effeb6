// SPDX-License-Identifier: MIT
// Tests tui/model/feed with a process that the test simulates in the same
// thread. The process sends messages without a pause, and hands out all kinds
// of recordings.
#define _GNU_SOURCE 1
#include "ipc/socket.h"
#include "tracer/timeline/recording.h"
#include "tui/model/feed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tests/between.h"
#define MANY 1000 // Messages that fit into a socket's buffer.

struct Traced {
    struct Served served;
    int listener, fd;
};

// Sends the message `times` times in one call. With several calls, a socket's
// buffer would have room for fewer messages.
static void send_often(struct Traced *process, struct Message message,
                       int times)
{
    struct Bytes bytes;
    Bytes_init(&bytes);
    while (times--)
        assert_int_equal(Message_encode(&bytes, &message), 0);
    assert_int_equal(Socket_send(process->fd, bytes.data, bytes.size),
                     bytes.size);
    Bytes_release(&bytes);
}

static void send_message(struct Traced *process, struct Message message)
{
    send_often(process, message, 1);
}

static void *welcome(void *argument)
{
    struct Traced *process = argument;
    struct pollfd polled = {.fd = process->listener, .events = POLLIN};
    struct Peer peer;
    char version[] = "0";
    struct Message hello = {.type = MESSAGE_HELLO,
                            .version = WIRE_VERSION,
                            .number = (uint64_t)getpid(),
                            .text = version};
    struct Bytes bytes;
    Bytes_init(&bytes);
    poll(&polled, 1, 5000);
    process->fd = Socket_accept(process->listener, &peer);
    // An assertion here would jump into the stack of another thread.
    if (Message_encode(&bytes, &hello) == 0)
        Socket_send(process->fd, bytes.data, bytes.size);
    Bytes_release(&bytes);
    return NULL;
}

static void begin(struct Traced *process, struct Feed *feed)
{
    pthread_t thread;
    char why[512];
    *process = (struct Traced){.served.pid = getpid()};
    snprintf(process->served.path, sizeof process->served.path,
             "/tmp/ocular-feed-%d.sock", (int)getpid());
    process->listener = Socket_listen(process->served.path);
    assert_true(process->listener >= 0);
    assert_int_equal(pthread_create(&thread, NULL, welcome, process), 0);
    int error = Feed_open(feed, &process->served, 1, why, sizeof why);
    pthread_join(thread, NULL);
    if (error)
        fail_msg("%s", why);
}

static void finish(struct Traced *process, struct Feed *feed)
{
    Feed_close(feed);
    close(process->fd);
    close(process->listener);
    unlink(process->served.path);
}

struct Fixture {
    struct Traced process;
    struct Feed feed;
    char path[64]; // the file of an export
};

static void set_up(struct Fixture *f)
{
    strcpy(f->path, "/tmp/ocular-feed-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    strcat(f->path, "/trace.json");
    begin(&f->process, &f->feed);
}

static void tear_down(struct Fixture *f)
{
    finish(&f->process, &f->feed);
    unlink(f->path);
    *strrchr(f->path, '/') = 0;
    // rmdir() fails if another file is left in the directory.
    assert_int_equal(rmdir(f->path), 0);
}

TEST_FIXTURE(test_a_flood_is_taken_in_parts)
{
    struct Answer answer;
    char words[] = "not yet";
    int parts = 0;
    struct Message notice = {.type = MESSAGE_NOTICE, .text = words};
    send_often(&f->process, notice, MANY);
    // Reads, so that the socket's buffer has room.
    assert_int_equal(Feed_next(&f->feed, &answer), 0);
    assert_true(f->feed.more);
    send_message(&f->process, (struct Message){.type = MESSAGE_END});
    // No more data arrives, but the client's buffer still contains messages.
    while (!f->feed.ended) {
        assert_int_equal(Feed_next(&f->feed, &answer), 0);
        assert_true(f->feed.ended || f->feed.more);
        assert_true(f->feed.ended || Feed_wait(&f->feed, 600000));
        parts++;
    }
    assert_between(parts, 2, MANY);
    assert_string_equal(f->feed.notice, "not yet");
}

static uint32_t export_number(const struct Feed *feed)
{
    for (int i = 0; i < PENDING_MOST; i++)
        if (feed->pending.items[i].type == MESSAGE_HANDOUT)
            return feed->pending.items[i].number;
    return 0;
}

// Makes a recording without events. Returns a descriptor of this recording.
static int make_recording(void)
{
    int error;
    struct Recording *recording = Recording_new_shared(&error);
    struct RecordingHead head = {.hz = 1e9, .start_ticks = 1, .now_ticks = 2};
    assert_non_null(recording);
    Recording_put_head(recording, &head);
    assert_int_equal(Recording_flush(recording, true), 0);
    int fd = Recording_share(recording);
    Recording_put(recording);
    assert_true(fd > 2);
    return fd;
}

// Hands out a file, and closes it.
static void hand_out_file(struct Traced *process, struct Message message,
                          int fd)
{
    struct Bytes bytes;
    message.type = MESSAGE_RECORDING;
    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &message), 0);
    assert_int_equal(Socket_send_file(process->fd, bytes.data, bytes.size, fd),
                     bytes.size);
    Bytes_release(&bytes);
    close(fd);
}

// Hands out a recording of `size` bytes. The recording will not change for
// `seconds` seconds, or never if this is 0.
static void hand_out_bytes(struct Traced *process, uint32_t number,
                           uint64_t size, double seconds)
{
    hand_out_file(
        process,
        (struct Message){.request = number, .number = size, .value = seconds},
        make_recording());
}

static void hand_out(struct Traced *process, uint32_t number, double seconds)
{
    hand_out_bytes(process, number, sizeof(struct RecordingHead), seconds);
}

// Waits for the last answer to an export.
static struct Answer end_of(struct Feed *feed)
{
    struct Answer answer = {0};
    do
        if (!Feed_next(feed, &answer))
            Feed_wait(feed, 100);
    while (!answer.done);
    assert_int_equal(answer.request, MESSAGE_HANDOUT);
    assert_false(Feed_is_exporting(feed));
    return answer;
}

static atomic_int copies; // number of calls of copy_file_range

ssize_t copy_file_range(int from, off_t *at, int to, off_t *to_at, size_t size,
                        unsigned flags)
{
    copies++;
    return syscall(SYS_copy_file_range, from, at, to, to_at, size, flags);
}

// The process promises not to change its recording for some time. If copying
// takes longer than this, the viewer must stop.
TEST_FIXTURE(test_a_copy_that_is_late)
{
    copies = 0;
    assert_int_equal(Feed_export(&f->feed, f->path, false), 0);
    hand_out(&f->process, export_number(&f->feed), 1e-9);
    struct Answer answer = end_of(&f->feed);
    assert_int_equal(answer.error, ETIMEDOUT);
    assert_non_null(strstr(answer.text, "could not be copied in"));
    assert_int_equal(copies, 0);
}

// Exports a file for which the process gives the size `size`.
static struct Answer export_of(struct Fixture *f, int file, uint64_t size)
{
    char text[] = "the last 4 s are missing";
    assert_int_equal(Feed_export(&f->feed, f->path, false), 0);
    hand_out_file(&f->process,
                  (struct Message){.request = export_number(&f->feed),
                                   .number = size,
                                   .value = 1000,
                                   .text = text},
                  file);
    return end_of(&f->feed);
}

// Makes a file that begins like a recording and continues with a hole.
static int make_hole(uint64_t size)
{
    struct RecordingHead head;
    int recording = make_recording(), file = memfd_create("hole", MFD_CLOEXEC);
    assert_int_equal(pread(recording, &head, sizeof head, 0), sizeof head);
    assert_int_equal(pwrite(file, &head, sizeof head, 0), sizeof head);
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    close(recording);
    return file;
}

// The process says how many bytes of the file the viewer must copy. If the disk
// has no room for them, the viewer does not begin to copy.
TEST_FIXTURE(test_a_copy_of_a_large_file)
{
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 4 << 20; // Less than one call copies.
    int small = make_hole((uint64_t)1 << 50);
    int large = make_hole((uint64_t)1 << 50);
    // Copying the whole file would fail with EFBIG.
    setrlimit(RLIMIT_FSIZE, &limit);
    struct Answer answer = export_of(f, small, sizeof(struct RecordingHead));
    if (answer.failed)
        fail_msg("%s", answer.text);
    assert_string_equal(answer.lack, "the last 4 s are missing");
    assert_string_equal(answer.text, f->path);
    unlink(f->path);
    answer = export_of(f, large, (uint64_t)1 << 50);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(answer.error, ENOSPC);
    assert_non_null(strstr(answer.text, "needs 1125899.9 GB"));
    assert_non_null(strstr(answer.text, "choose a directory on another"));
}

// A hostile process hands out a descriptor that is no regular file.
TEST_FIXTURE(test_a_copy_of_no_file)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    struct Answer answer = export_of(f, ends[0], 4096);
    assert_int_equal(answer.error, EINVAL);
    assert_non_null(strstr(answer.text, "no regular file"));
}

// When a trace ends, the program may truncate its recording.
TEST_FIXTURE(test_a_recording_that_is_truncated)
{
    assert_int_equal(Feed_export(&f->feed, f->path, false), 0);
    hand_out_bytes(&f->process, export_number(&f->feed), 1 << 20, 1000);
    struct Answer answer = end_of(&f->feed);
    assert_int_equal(answer.error, ESHUTDOWN);
    assert_non_null(strstr(answer.text, "the trace has ended"));
    // The next recording does not arrive at all.
    assert_int_equal(Feed_export(&f->feed, f->path, false), 0);
    send_message(&f->process,
                 (struct Message){.type = MESSAGE_RECORDING,
                                  .request = export_number(&f->feed)});
    answer = end_of(&f->feed);
    assert_true(answer.failed);
    assert_non_null(strstr(answer.text, "did not arrive"));
}

// A user can cancel an export before the process answers, and while the viewer
// writes the file.
TEST_FIXTURE(test_an_export_is_cancelled)
{
    struct Answer answer;
    assert_int_equal(Feed_export(&f->feed, f->path, false), 0);
    uint32_t number = export_number(&f->feed);
    Feed_cancel(&f->feed);
    answer = end_of(&f->feed);
    assert_int_equal(answer.error, ECANCELED);
    hand_out(&f->process, number, 0); // Too late.
    assert_int_equal(Feed_export(&f->feed, f->path, false), 0);
    assert_int_equal(Feed_export(&f->feed, f->path, false), -EBUSY);
    hand_out(&f->process, export_number(&f->feed), 0);
    while (!f->feed.converter) {
        assert_int_equal(Feed_next(&f->feed, &answer), 0);
        Feed_wait(&f->feed, 100);
    }
    Feed_cancel(&f->feed);
    answer = end_of(&f->feed);
    assert_true(!answer.failed || answer.error == ECANCELED);
    // The user quits the viewer during an export.
    assert_int_equal(Feed_export(&f->feed, f->path, true), 0);
    hand_out(&f->process, export_number(&f->feed), 0);
    while (!f->feed.converter) {
        assert_int_equal(Feed_next(&f->feed, &answer), 0);
        Feed_wait(&f->feed, 100);
    }
}
