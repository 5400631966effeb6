// SPDX-License-Identifier: MIT
// Tests the file to which a timeline is recorded. The tests read complete,
// truncated and damaged files. Other tests check which events a timeline's file
// contains, and what happens if the file cannot grow.
#include "tracer/timeline/recording.h"

#include "formats/conversion.h"
#include "formats/event_buffer.h"
#include "formats/live_export.h"
#include "formats/recording_reader.h"
#include "ipc/base/worker.h"
#include "ipc/wire.h"
#include "tests/random.h"
#include "tracer/sample/event_loops.h"
#include "tracer/sample/flame.h"
#include "tracer/timeline/event_code.h"
#include "tracer/timeline/own_event.h"
#include "tracer/timeline/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

#define PIECE 60000u

static char folder[] = "/tmp/ocular-test-recording-XXXXXX";
static char path[64], other[64];
static char piece[PIECE], back[PIECE];
static struct RecordingReader reader;
static char why[256];

static void make_folder(void)
{
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.1.ocular", folder);
    snprintf(other, sizeof other, "%s/y.json", folder);
}

// Removes the folder of the test. The removal fails if a file is left in the
// folder.
static void remove_folder(void)
{
    assert_int_equal(rmdir(folder), 0);
}

// Limits the size of files. Returns the limit before.
static rlim_t limit_files(rlim_t size)
{
    struct rlimit limit;
    rlim_t before;

    getrlimit(RLIMIT_FSIZE, &limit);
    before = limit.rlim_cur;
    limit.rlim_cur = size;
    setrlimit(RLIMIT_FSIZE, &limit);
    return before;
}

static struct Recording *make(void)
{
    int error = 1;
    struct Recording *recording = Recording_new(path, 0, &error);

    assert_non_null(recording);
    assert_int_equal(error, 0);
    return recording;
}

static int put(struct Recording *recording, struct RecordingSlot *slot,
               size_t size)
{
    struct RecordingBlock block = {.kind = RECORDING_CHUNK};

    return Recording_append(recording, slot, &block, piece, size);
}

// Expects that the slot has the bytes of `piece`.
static void expect_piece(struct Recording *recording,
                         const struct RecordingSlot *slot, size_t size)
{
    assert_int_equal(
        Recording_read(recording, RecordingSlot_data(slot), back, size), 0);
    assert_memory_equal(back, piece, size);
}

static uint64_t flushed(struct Recording *recording)
{
    assert_int_equal(Recording_flush(recording, true), 0);
    assert_int_equal(Recording_waiting(recording), 0);
    return Recording_bytes(recording);
}

static void let_go(struct Recording *recording)
{
    Recording_remove(recording);
    Recording_put(recording);
}

// Returns the highest descriptor of a regular file. The returned descriptor
// belongs to the recording.
static int descriptor(void)
{
    struct stat status;
    int fd;

    for (fd = 1023; fd > 2; fd--)
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
            return fd;
    fail();
    return -1;
}

// The program closes all descriptors, as a daemon does. The next file that the
// program opens can get the number of the recording's descriptor.
TEST(a_descriptor_that_changed_hands)
{
    struct Recording *recording = make();
    struct RecordingSlot slot = {0}, more = {0};
    int fd, null = open("/dev/null", O_RDWR | O_CLOEXEC);

    assert_int_equal(put(recording, &slot, PIECE), 0);
    flushed(recording);
    fd = descriptor();
    assert_int_equal(dup2(null, fd), fd);
    Recording_flush(recording, true);
    assert_int_equal(put(recording, &more, PIECE), -EBADF);
    assert_int_equal(
        Recording_read(recording, RecordingSlot_data(&slot), back, 1), -EBADF);
    Recording_drop(recording, &slot);
    let_go(recording);
    // This file belongs to the program, so it must stay open.
    assert_true(fcntl(fd, F_GETFD) >= 0);
    close(fd);
    close(null);
    // This file belongs to the program, so it must not be removed.
    assert_int_equal(unlink(path), 0);
}

// If the program has closed the recording's file, new data goes to free room in
// memory, even if free room in the file has a better size.
TEST(a_place_in_a_closed_file)
{
    struct Recording *recording = make();
    struct RecordingSlot filed = {0}, kept = {0}, more = {0};
    int fd, null = open("/dev/null", O_RDWR | O_CLOEXEC);

    Recording_set_room(recording, 30000);
    assert_int_equal(put(recording, &filed, 20000), 0);
    flushed(recording);
    Recording_drop(recording, &filed);
    fd = descriptor();
    assert_int_equal(dup2(null, fd), fd);
    Recording_flush(recording, true);
    assert_int_equal(put(recording, &kept, 24000), 0);
    // There is no more memory for pages of the recording.
    assert_int_equal(put(recording, &more, 24000), -EBADF);
    Recording_drop(recording, &kept);
    assert_int_equal(put(recording, &more, 6000), 0);
    let_go(recording);
    close(fd);
    close(null);
    assert_int_equal(unlink(path), 0);
}

static struct RecordingSlot from_thread, moved;

static void *append_without_descriptors(void *recording)
{
    rlim_t before;

    assert_true(Worker_leave_descriptors());
    assert_false(Recording_is_closed(recording));
    assert_int_equal(put(recording, &from_thread, PIECE), 0);
    assert_int_equal(Recording_error(recording), 0);
    before = limit_files(4096);
    // The thread must not use the dropped place in memory, because it cannot
    // read the bytes of the next block, which the file has in the same page.
    assert_int_equal(put(recording, &moved, 3000), 0);
    limit_files(before);
    return NULL;
}

// The sampler's thread appends samples, but it has none of the program's
// descriptors.
TEST(a_thread_without_descriptors)
{
    struct Recording *recording = make();
    struct RecordingSlot kept = {0};
    pthread_t thread;

    memset(piece, 7, sizeof piece);
    Recording_set_room(recording, 1 << 20);
    assert_int_equal(put(recording, &moved, 3000), 0);
    assert_int_equal(put(recording, &kept, 3000), 0);
    flushed(recording);
    Recording_drop(recording, &moved);
    assert_int_equal(
        pthread_create(&thread, NULL, append_without_descriptors, recording),
        0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    flushed(recording);
    assert_true(Recording_takes_all(recording));
    expect_piece(recording, &kept, 3000);
    expect_piece(recording, &from_thread, PIECE);
    let_go(recording);
}

// The user moves the file of a running program, or makes a link to the file.
// Another file then has the recording's name, and must not be removed.
static void keep(int (*name)(const char *from, const char *to))
{
    struct Recording *recording = make();
    struct RecordingSlot slot = {0};
    struct stat status;
    uint64_t size;

    assert_int_equal(put(recording, &slot, PIECE), 0);
    size = flushed(recording);
    assert_int_equal(name(path, other), 0);
    if (name == rename)
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    let_go(recording);
    assert_int_equal(unlink(path), name == rename ? 0 : -1);
    assert_int_equal(stat(other, &status), 0);
    assert_int_equal(status.st_size, size);
    assert_int_equal(unlink(other), 0);
}

TEST(a_file_that_the_user_takes)
{
    keep(rename);
    keep(link);
}

// A forked child can have the file open, so a file without a name is truncated.
TEST(a_removed_file_takes_no_blocks)
{
    struct Recording *recording = make();
    struct RecordingSlot slot = {0};
    struct stat status;
    int child;

    assert_int_equal(put(recording, &slot, PIECE), 0);
    flushed(recording);
    child = open(path, O_RDONLY | O_CLOEXEC);
    let_go(recording);
    assert_int_equal(fstat(child, &status), 0);
    assert_int_equal(status.st_size, 0);
    close(child);
}

// If a write to the file fails, the bytes stay in memory until a later write
// succeeds.
TEST(what_a_file_does_not_take)
{
    rlim_t before;
    struct Recording *recording = make();
    struct Recording *file;
    struct RecordingSlot slots[8] = {0}, more = {0};
    unsigned i;
    int error;

    Recording_set_room(recording, 5 << 16);
    // The file has room for two pieces and a part of a third piece.
    before = limit_files(4096 + 3 * 65536 - 4096);
    for (i = 0; i < 6; i++) {
        memset(piece, (int)i, sizeof piece);
        assert_int_equal(put(recording, &slots[i], PIECE), 0);
    }
    assert_int_equal(put(recording, &more, PIECE), -EFBIG);
    assert_int_equal(Recording_error(recording), -EFBIG);
    assert_int_equal(Recording_flush(recording, true), -EFBIG);
    for (i = 0; i < 6; i++) {
        memset(piece, (int)i, sizeof piece);
        expect_piece(recording, &slots[i], PIECE);
    }
    limit_files(before);
    assert_int_equal(Recording_flush(recording, true), 0);
    file = Recording_open(path, &error);
    assert_non_null(file);
    expect_piece(file, &slots[5], PIECE);
    Recording_put(file);
    let_go(recording);
}

// Returns the number of chunks that a reader finds in the file.
static size_t chunks(struct Recording *recording)
{
    const struct RecordingWatch nobody = {0};
    size_t count;

    Recording_flush(recording, true);
    assert_int_equal(
        RecordingReader_open(&reader, path, nobody, why, sizeof why), 0);
    count = reader.chunks.size / sizeof(struct ReadChunk);
    RecordingReader_close(&reader);
    return count;
}

// If the file is full, the places of two small blocks become the place of a
// larger block.
TEST(neighbours_become_one_place)
{
    struct RecordingHead own = {.hz = 1e9};
    rlim_t before;
    struct Recording *recording = make();
    struct RecordingSlot slots[6] = {0}, large = {0}, small = {0};
    unsigned i;

    Recording_put_head(recording, &own);
    memset(piece, EVENT_CODE_PAD, sizeof piece);
    for (i = 0; i < 6; i++)
        assert_int_equal(put(recording, &slots[i], 20000), 0);
    flushed(recording);
    before = limit_files(4096 + 6 * 20480);
    Recording_drop(recording, &slots[2]);
    assert_int_equal(put(recording, &large, 24000), -EFBIG);
    Recording_drop(recording, &slots[4]);
    assert_int_equal(put(recording, &large, 24000), -EFBIG);
    Recording_drop(recording, &slots[3]);
    assert_int_equal(put(recording, &large, 24000), 0);
    // A reader finds the new block between the old blocks that are left.
    assert_int_equal(chunks(recording), 3 + 1);
    assert_int_equal(put(recording, &small, 8000), 0);
    assert_int_equal(chunks(recording), 3 + 2);
    Recording_drop(recording, &large);
    assert_int_equal(chunks(recording), 3 + 1);
    limit_files(before);
    let_go(recording);
}

#define SMALL 96u // Bytes of data in the smallest block.

// The recording that is being flushed, and a block in the page to which the
// next SMALL bytes are written.
static struct Recording *flushing;
static struct RecordingSlot *beside;

// While writes to the file fail, puts new data into free room of the file.
static void use_again(void)
{
    struct Recording *recording = flushing;
    rlim_t before;

    flushing = NULL;
    before = limit_files(4096);
    Recording_drop(recording, beside);
    assert_int_equal(put(recording, beside, SMALL), 0);
    limit_files(before);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    if (flushing && size == SMALL)
        use_again();
    return syscall(SYS_pwrite64, fd, data, size, at);
}

TEST(a_page_that_moves_during_a_flush)
{
    struct Recording *recording = make();
    struct RecordingSlot slots[2] = {0};

    Recording_set_room(recording, 5 << 16);
    memset(piece, 1, sizeof piece);
    assert_int_equal(put(recording, &slots[0], SMALL), 0);
    assert_int_equal(put(recording, &slots[1], SMALL), 0);
    assert_int_equal(slots[1].at - slots[0].at, RECORDING_UNIT);
    flushed(recording);
    memset(piece, 2, sizeof piece);
    Recording_drop(recording, &slots[1]);
    assert_int_equal(put(recording, &slots[1], SMALL), 0);
    flushing = recording;
    beside = &slots[0];
    Recording_flush(recording, true);
    assert_null(flushing);
    assert_true(Recording_holds(recording, &slots[0]));
    expect_piece(recording, &slots[1], SMALL);
    let_go(recording);
}

// If writes to the file fail, free room in the file must not keep the recording
// from using larger free room in memory.
TEST(a_place_that_the_file_refuses)
{
    rlim_t before;
    struct Recording *recording = make();
    struct RecordingSlot in_file = {0}, in_memory[8] = {0}, small = {0};
    unsigned i = 0;

    Recording_set_room(recording, 5 << 16);
    assert_int_equal(put(recording, &in_file, 20000), 0);
    flushed(recording);
    before = limit_files(4096);
    while (i < 8 && !put(recording, &in_memory[i], PIECE))
        i++;
    // The loop runs until the memory for pages is full.
    while (!put(recording, &small, 20000))
        small = (struct RecordingSlot){0};
    Recording_drop(recording, &in_file);
    Recording_drop(recording, &in_memory[0]);
    assert_int_equal(put(recording, &small, 20000), 0);
    assert_true(Recording_holds(recording, &small));
    limit_files(before);
    assert_int_equal(Recording_flush(recording, true), 0);
    // After the flush, new data goes to the free room in the file again.
    assert_int_equal(put(recording, &in_file, 20000), 0);
    assert_int_equal(in_file.at, RECORDING_PAGE);
    let_go(recording);
}

TEST(one_without_a_file)
{
    struct Recording *recording = Recording_new_in_memory();
    struct RecordingSlot slots[100] = {0};
    size_t most;
    unsigned i;

    for (i = 0; i < 100; i++) {
        memset(piece, (int)i, sizeof piece);
        assert_int_equal(put(recording, &slots[i], 256 + i * 8), 0);
    }
    most = Recording_memory(recording);
    assert_int_equal(Recording_flush(recording, true), 0);
    for (i = 0; i < 100; i++) {
        memset(piece, (int)i, sizeof piece);
        expect_piece(recording, &slots[i], 256 + i * 8);
    }
    for (i = 0; i < 100; i++)
        Recording_drop(recording, &slots[i]);
    // No page is left in memory.
    assert_true(Recording_memory(recording) < most / 4);
    assert_int_equal(put(recording, &slots[0], PIECE), 0);
    assert_int_equal(Recording_seek(recording, 4096),
                     slots[0].at / 4096 * 4096);
    Recording_put(recording);
}

// --- Recordings of a timeline ------------------------------------------------

static struct Opcodes opcodes;
static struct RecordingHead head = {
    .hz = 1e9, .start_ticks = 1000, .pid = 4711, .command = "x.py"};

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[32];

    (void)context;
    snprintf(text, sizeof text, "function_%u", id);
    *name = (struct PerfettoName){text, "/src/a.py", id, 0};
    return id != 13;
}

static const struct RecordingSource source = {NULL, name_of, &opcodes};

// Makes the data of a snapshot, with the budget `budget` and one rule
// of the filter.
static void encode_settings(struct Bytes *bytes, double budget,
                            const char *rule, double uptime_s)
{
    const struct FilterRule rules[] = {{rule}, {"b"}};
    struct Snapshot *snapshot = Snapshot_new();
    const struct Message message = {.type = MESSAGE_SNAPSHOT,
                                    .snapshot = snapshot};

    snapshot->version = "0.0.9";
    snapshot->overhead_budget = budget;
    snapshot->uptime_s = uptime_s;
    snapshot->filter_exclude = rules;
    snapshot->filter_exclude_count = 2;
    Bytes_init(bytes);
    assert_int_equal(Message_encode(bytes, &message), 0);
    Snapshot_free(snapshot);
}

static void set_settings(struct Timeline *timeline, double budget,
                         const char *rule)
{
    struct Bytes bytes;

    encode_settings(&bytes, budget, rule, NAN);
    Timeline_save_snapshot(timeline, &bytes, false);
    Bytes_release(&bytes);
}

// Records `calls` calls of each of two threads, with `limit` bytes of memory.
// Saves the events from time to time, and never stops the trace.
static void record(size_t limit, bool spills, unsigned calls)
{
    struct Timeline *timeline = Timeline_new(make(), limit, spills);
    struct Ring *ring = Ring_new(NULL);
    struct Track *tracks[2];
    uint64_t ticks = 1000;
    unsigned i, n;

    set_settings(timeline, .01, "a");
    tracks[0] = Timeline_begin(timeline, 0, 4711, "MainThread");
    tracks[1] = Timeline_begin(timeline, 1, 4712, "Thread-1");
    for (i = 0; i < calls; i++) {
        for (n = 0; n < 2; n++) {
            Ring_push(ring, ++ticks, EVENT_ENTER, Event_call(1 + i % 20, 0));
            Ring_push(ring, ++ticks, EVENT_LEAVE, Event_call(1 + i % 20, 0));
            Timeline_drain(timeline, tracks[n], ring);
            if (i % 100 == 99)
                Timeline_save(timeline, tracks[n]);
        }
        if (i % 100 == 99) {
            Timeline_save_run(timeline, &head, &source);
            Recording_flush(Timeline_recording(timeline), true);
        }
    }
    Ring_free(ring);
    Timeline_free(timeline); // The recording's file does not change any more.
}

static size_t read_events(const struct TimelineView *view)
{
    struct EventBuffer buffer = {0};
    uint64_t before = 0;
    unsigned thread = 0;
    size_t i, j, count = 0;

    for (i = 0; i < view->chunk_count; i++) {
        const struct TimelineChunk *chunk = view->chunks[i];
        const struct Event *events = EventBuffer_read(&buffer, chunk);

        if (chunk->thread != thread)
            before = 0;
        thread = chunk->thread;
        assert_true(events || !chunk->event_count);
        for (j = 0; j < chunk->event_count; j++) {
            assert_true(Event_ticks(&events[j]) > before);
            before = Event_ticks(&events[j]);
        }
        count += chunk->event_count;
    }
    EventBuffer_release(&buffer);
    return count;
}

// Returns the number of events that a reader finds in the file, or -errno.
static long found(void)
{
    int error = RecordingReader_open(&reader, path, (struct RecordingWatch){0},
                                     why, sizeof why);

    return error ? error : (long)read_events(reader.trace.view);
}

static void forget(void)
{
    RecordingReader_close(&reader);
    unlink(path);
}

// One thread sleeps while the events of another thread push out the first block
// of the sleeping thread. The header of the sleeping thread's last block does
// not count the forgotten events.
TEST(a_forgotten_block_is_not_damaged)
{
    struct Timeline *timeline = Timeline_new(make(), 512 << 10, false);
    struct Ring *ring = Ring_new(NULL);
    struct Track *tracks[2];
    uint64_t ticks = 1000;
    unsigned i, n;

    for (n = 0; n < 2; n++)
        tracks[n] = Timeline_begin(timeline, n, 4711 + (pid_t)n, "Thread");
    for (i = 0; i < 1000000 && !Timeline_forgotten(timeline); i++) {
        for (n = i < 10000 ? 0 : 1; n < 2; n++) {
            Ring_push(ring, ++ticks, EVENT_ENTER, Event_call(1, 0));
            Ring_push(ring, ++ticks, EVENT_LEAVE, Event_call(1, 0));
            Timeline_drain(timeline, tracks[n], ring);
        }
        if (i % 1000 == 999)
            for (n = 0; n < 2; n++)
                Timeline_save(timeline, tracks[n]);
    }
    Timeline_save_run(timeline, &head, &source);
    Ring_free(ring);
    Timeline_free(timeline);
    assert_true(found() > 40000);
    assert_true(reader.head.forgotten > 0);
    assert_int_equal(reader.trace.view->threads[0].forgotten, 0);
    assert_string_equal(why, "");
    forget();
}

// A cut (a consistent state of the recording) lists a thread that has no blocks
// yet. The thread then gets another name, and the program is killed.
TEST(the_name_of_a_thread_that_was_listed_without_blocks)
{
    struct Timeline *timeline = Timeline_new(make(), 1 << 20, false);
    struct Ring *ring = Ring_new(NULL);
    struct Track *track = Timeline_begin(timeline, 0, 4711, "Thread-1");

    Timeline_cut(timeline, NULL, 0);
    Timeline_name(timeline, track, "worker");
    Ring_push(ring, 1001, EVENT_ENTER, Event_call(1, 0));
    ring->lost = 5;
    Timeline_drain(timeline, track, ring);
    Timeline_save(timeline, track);
    Timeline_save_run(timeline, &head, &source);
    Ring_free(ring);
    Timeline_free(timeline);
    assert_int_equal(found(), 1);
    assert_string_equal(reader.trace.view->threads[0].name, "worker");
    assert_int_equal(reader.trace.view->lost, 5);
    forget();
}

// Records the calls of a program in which functions 1 and 2 lose their hooks. A
// cut lists both functions, but function 2 gets its hooks back between the
// listing and the cut. If `on` is true, the program is killed only after
// function 1 has got its hooks back and function 3 has lost them. Returns the
// ids of the functions without hooks at the end, combined into one number.
static uint32_t dark_at_the_end(bool on)
{
    const struct RecordingDark listed[] = {{1100, 1, 0}, {1200, 2, 0}};
    const struct Event rearmed[] = {OwnEvent_rearmed(1300, 2, 100),
                                    OwnEvent_rearmed(2000, 1, 900)};
    struct Timeline *timeline = Timeline_new(make(), 1 << 20, false);
    struct Ring *ring = Ring_new(NULL);
    struct Track *track = Timeline_begin(timeline, 0, 4711, "MainThread");
    struct RecordingHead own = head;
    uint32_t dark = 0;
    size_t i;

    for (i = 1; i <= 2; i++)
        Ring_push(ring, 1000 + 100 * i, EVENT_DARK, Event_call((uint32_t)i, 0));
    Timeline_add(timeline, &rearmed[0], 1);
    Ring_push(ring, 1400, EVENT_ENTER, Event_call(2, 0));
    Timeline_drain(timeline, track, ring);
    Timeline_cut(timeline, listed, 2);
    if (on) {
        Timeline_add(timeline, &rearmed[1], 1);
        Ring_push(ring, 2100, EVENT_DARK, Event_call(3, 0));
        Timeline_drain(timeline, track, ring);
        Timeline_save(timeline, track);
    }
    own.ended = !on;
    Timeline_save_run(timeline, &own, &source);
    Ring_free(ring);
    Timeline_free(timeline);
    assert_true(found() > 3);
    for (i = 0; i < reader.trace.dark_count; i++)
        dark = 10 * dark + reader.trace.dark[i].id;
    forget();
    return dark;
}

TEST(the_dark_functions_of_a_cut_and_of_later_events)
{
    assert_int_equal(dark_at_the_end(false), 1);
    assert_int_equal(dark_at_the_end(true), 3);
}

// --- Settings ----------------------------------------------------------------

static char *contents(size_t *size);
static void store(const char *data, size_t size);

// Converts the recording to JSON. The caller frees the returned text.
static char *as_json(void)
{
    const char *const paths[] = {path};
    struct Conversion conversion = {
        .paths = paths, .path_count = 1, .output = {.path = other}};
    char *text;
    size_t size;

    assert_int_equal(Conversion_run(&conversion), 0);
    assert_int_equal(rename(other, path), 0);
    text = contents(&size);
    text[size] = '\0';
    unlink(path);
    return text;
}

static void check_settings(const char *rule)
{
    assert_int_equal(found(), 0);
    assert_string_equal(why, "");
    assert_non_null(reader.settings);
    assert_string_equal(reader.settings->filter_exclude[0].text, rule);
    RecordingReader_close(&reader);
}

TEST(a_recording_without_settings)
{
    struct RecordingHead own = head;
    struct Recording *recording = make();
    char *text;
    unsigned version;

    Recording_put_head(recording, &own);
    Recording_put(recording);
    for (version = 2; version <= RECORDING_VERSION + 1; version++) {
        own.version = version;
        store((const char *)&own, sizeof own);
        if (version < 3 || version > RECORDING_VERSION) {
            assert_int_equal(found(), -EINVAL);
            assert_non_null(strstr(why, "reads versions 3 to 6"));
            continue;
        }
        assert_int_equal(found(), 0);
        assert_null(reader.settings);
        RecordingReader_close(&reader);
    }
    own.version = 3;
    store((const char *)&own, sizeof own);
    text = as_json();
    assert_non_null(strstr(text, "\"version\":\"" OCULAR_VERSION "\""));
    assert_null(strstr(text, "\"overhead_budget\""));
    free(text);
}

// Makes a recording in which `bytes` are the data of the block of settings.
// Returns the number of damaged blocks that a reader finds.
static uint64_t damage(const struct Bytes *bytes)
{
    struct Recording *recording = make();
    struct RecordingHead own = head;
    struct RecordingBlock block = {.kind = RECORDING_SETTINGS};
    struct RecordingSlot slot = {0};
    uint64_t damaged;

    Recording_put_head(recording, &own);
    assert_int_equal(Recording_append(recording, &slot, &block, bytes->data,
                                      bytes->size / 8 * 8),
                     0);
    Recording_flush(recording, true);
    Recording_put(recording);
    assert_int_equal(found(), 0);
    damaged = reader.damaged;
    assert_int_equal(*why != '\0', damaged > 0);
    forget();
    return damaged;
}

TEST(settings_that_cannot_be_read)
{
    struct Bytes bytes;
    size_t size;

    encode_settings(&bytes, .1, "a", NAN);
    while (bytes.size % 8)
        Bytes_put_u8(&bytes, 0);
    assert_int_equal(damage(&bytes), 0);
    for (size = bytes.size - 16; size >= 16; size -= 16) {
        bytes.size = size;
        assert_int_equal(damage(&bytes), 1);
    }
    Bytes_release(&bytes);
}

// Saves a snapshot of the program at the time `uptime_s`.
static void save_snapshot(struct Timeline *timeline, double uptime_s, bool last)
{
    struct Bytes bytes;

    encode_settings(&bytes, .001 * uptime_s, "a", uptime_s);
    Timeline_save_snapshot(timeline, &bytes, last);
    Timeline_save_run(timeline, &head, &source);
    Recording_flush(Timeline_recording(timeline), true);
    Bytes_release(&bytes);
}

static void check_snapshot(double uptime_s, bool ended, uint64_t damaged)
{
    assert_int_equal(found(), 0);
    assert_int_equal(reader.damaged, damaged);
    assert_non_null(reader.final);
    assert_float_equal(reader.final->uptime_s, uptime_s, 0);
    assert_float_equal(reader.trace.settings->overhead_budget, .001 * uptime_s,
                       0);
    assert_int_equal(reader.ended, ended);
    RecordingReader_close(&reader);
}

// A diff compares each loop and each exception of a run with those of another.
TEST(a_snapshot_with_more_rows_than_a_program_has)
{
    struct Snapshot *snapshot = Snapshot_new();
    const struct Message message = {.type = MESSAGE_SNAPSHOT,
                                    .snapshot = snapshot};
    struct Bytes bytes;

    snapshot->uptime_s = 1;
    snapshot->loops = calloc(EVENT_LOOPS + 1, sizeof *snapshot->loops);
    for (size_t more = 0; more < 2; more++) {
        snapshot->loop_count = EVENT_LOOPS + more;
        Bytes_init(&bytes);
        assert_int_equal(Message_encode(&bytes, &message), 0);
        while (bytes.size % 8)
            Bytes_put_u8(&bytes, 0);
        assert_int_equal(damage(&bytes), more);
        Bytes_release(&bytes);
    }
    free((void *)(uintptr_t)snapshot->loops);
    Snapshot_free(snapshot);
}

// Damages a byte of the snapshot that was made at the time `uptime_s`.
static void damage_snapshot(double uptime_s)
{
    size_t size, i, found = 0;
    char *data = contents(&size);

    for (i = RECORDING_PAGE; i + sizeof uptime_s < size; i++)
        if (memcmp(data + i, &uptime_s, sizeof uptime_s) == 0) {
            data[i] ^= 1;
            found++;
        }
    assert_int_equal(found, 1);
    store(data, size);
    free(data);
}

// The file has the two newest snapshots. A reader takes the newer one, unless
// it is damaged. More snapshots do not make the file larger.
TEST(the_newest_snapshot_counts)
{
    struct Timeline *timeline = Timeline_new(make(), 1 << 20, false);
    unsigned i;

    set_settings(timeline, .5, "a");
    Timeline_save_run(timeline, &head, &source);
    Recording_flush(Timeline_recording(timeline), true);
    check_settings("a");
    for (i = 1; i < 8; i++) {
        save_snapshot(timeline, i, false);
        check_snapshot(i, false, 0);
    }
    damage_snapshot(7);
    check_snapshot(6, false, 1);
    Timeline_save_run(timeline, &head, &source);
    for (i = 8; i < 1000; i++)
        save_snapshot(timeline, i, false);
    assert_true(Recording_bytes(Timeline_recording(timeline)) < 20000);
    // If somebody truncates the file, the next snapshot is still complete.
    assert_int_equal(truncate(path, 0), 0);
    save_snapshot(timeline, 1000, true);
    check_snapshot(1000, true, 0);
    Timeline_free(timeline);
    unlink(path);
}

// Saves snapshots until the process is killed. *said is the time of the newest
// snapshot that was flushed.
static void save_for_ever(_Atomic unsigned *said)
{
    struct Timeline *timeline = Timeline_new(make(), 1 << 20, false);
    unsigned i;

    for (i = 1;; i++) {
        save_snapshot(timeline, i, false);
        atomic_store(said, i);
    }
}

TEST(a_program_that_is_killed_while_it_saves_snapshots)
{
    _Atomic unsigned *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned round;
    pid_t child;

    assert_ptr_not_equal(said, MAP_FAILED);
    for (round = 0; round < 50; round++) {
        atomic_store(said, 0);
        child = fork();
        if (!child)
            save_for_ever(said);
        while (atomic_load(said) < 3)
            usleep(100);
        usleep((useconds_t)(random_u64() % 2000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(found(), 0);
        assert_int_equal(reader.damaged, 0);
        assert_non_null(reader.final);
        assert_true(reader.final->uptime_s >= atomic_load(said));
        assert_true(reader.final->uptime_s <= atomic_load(said) + 1);
        RecordingReader_close(&reader);
        unlink(path);
    }
    munmap((void *)said, sizeof *said);
}

// --- Truncated and damaged recordings ----------------------------------------

static char *contents(size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(4 << 20);

    assert_non_null(file);
    assert_non_null(data);
    *size = fread(data, 1, 4 << 20, file);
    fclose(file);
    return data;
}

static void store(const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

// A writer accepts the damaged file, or refuses it with a message.
static void convert(void)
{
    const char *const paths[] = {path};
    struct Conversion conversion = {
        .paths = paths, .path_count = 1, .output = {.path = other}};

    unlink(other);
    if (Conversion_run(&conversion)) {
        assert_true(conversion.unreadable);
        assert_true(*conversion.why);
    }
    unlink(other);
}

static bool cancel(void *context, double done, uint64_t bytes)
{
    unsigned *reports = context;

    assert_true(done < 0.1 && !bytes);
    (*reports)++;
    return false;
}

TEST(a_conversion_is_cancelled_while_it_reads)
{
    const char *const paths[] = {path};
    unsigned reports = 0;
    struct Conversion conversion = {.paths = paths,
                                    .path_count = 1,
                                    .output = {.path = other},
                                    .progress = cancel,
                                    .context = &reports};

    record(6 << 20, false, 5000);
    assert_int_equal(Conversion_run(&conversion), -ECANCELED);
    assert_int_equal(reports, 1);
    assert_int_equal(access(other, F_OK), -1);
    unlink(path);
}

TEST(cut_at_any_length)
{
    size_t size, cut;
    char *data;
    unsigned i;

    record(6 << 20, false, 5000);
    data = contents(&size);
    for (i = 0; i < 200; i++) {
        long events;

        cut = random_u64() % size;
        store(data, cut);
        events = found();
        if (cut < sizeof(struct RecordingHead)) {
            assert_int_equal(events, -EINVAL);
            assert_true(*why);
            continue;
        }
        assert_in_range(events, 0, 20000);
        // All events before the cut-off are read, except the events in an
        // incomplete page. Some bytes of the file are not events.
        assert_true(events * 16 + 65536 + 4096 * 8 > (long)cut / 2);
        if (reader.damaged == 1)
            assert_non_null(strstr(why, "1 of its blocks is damaged"));
        else if (reader.damaged)
            assert_non_null(strstr(why, " of its blocks are damaged"));
        else
            assert_string_equal(why, "");
        RecordingReader_close(&reader);
        if (i % 10 == 0)
            convert();
    }
    free(data);
    unlink(path);
}

// Changes the first event of a chunk in the file.
static void damage_chunk(uint64_t sequence)
{
    FILE *file = fopen(path, "r+b");
    struct RecordingBlock block;
    long at = RECORDING_PAGE;

    assert_non_null(file);
    for (;; at += RECORDING_UNIT) {
        fseek(file, at, SEEK_SET);
        assert_int_equal(fread(&block, sizeof block, 1, file), 1);
        if (block.magic == RECORDING_BLOCK && block.at == (uint64_t)at &&
            block.kind == RECORDING_CHUNK && block.sequence == sequence)
            break;
    }
    at += (long)(sizeof block + block.open_count * sizeof(struct OpenCall));
    fseek(file, at, SEEK_SET);
    fputc('x', file);
    fclose(file);
}

static bool go_on(void *context, double done, uint64_t bytes)
{
    (void)context, (void)done, (void)bytes;
    return true;
}

// Converts the recording as a viewer does.
static void convert_live(struct LiveExport *export)
{
    *export = (struct LiveExport){.recording = open(path, O_RDONLY),
                                  .name = other,
                                  .output = open(other, O_RDWR | O_CREAT, 0600),
                                  .progress = go_on};
    assert_int_equal(LiveExport_run(export), 0);
    close(export->output);
    unlink(other);
}

// The program can write later blocks while a viewer copies its recording. A
// viewer only reports missing blocks from before the cut.
TEST(what_a_copy_lacks)
{
    struct Timeline *timeline = Timeline_new(make(), 1 << 20, false);
    struct Track *track = Timeline_begin(timeline, 0, 4711, "MainThread");
    struct Ring *ring = Ring_new(NULL);
    struct LiveExport export;
    unsigned i, n;

    for (n = 0; n < 3; n++) {
        for (i = 0; i < 100; i++) {
            Ring_push(ring, 2000 + 300 * n + 2 * i, EVENT_ENTER,
                      Event_call(1, 0));
            Ring_push(ring, 2001 + 300 * n + 2 * i, EVENT_LEAVE,
                      Event_call(1, 0));
        }
        Timeline_drain(timeline, track, ring);
        if (n < 2)
            Timeline_cut(timeline, NULL, 0);
        Timeline_save(timeline, track);
        Timeline_save_run(timeline, &head, &source);
    }
    Recording_flush(Timeline_recording(timeline), true);
    Ring_free(ring);
    Timeline_free(timeline);
    damage_chunk(2);
    convert_live(&export);
    assert_string_equal(export.why, "");
    damage_chunk(0);
    convert_live(&export);
    assert_string_equal(export.why,
                        "1 of its blocks is damaged or cut off: what is "
                        "missing of it is left out");
    unlink(path);
}

// Makes a recording with one chunk of `size` zeros, which are three bytes for
// each event and take no space on the disk.
static void forge(size_t size)
{
    struct Recording *recording = make();
    struct RecordingBlock block = {.magic = RECORDING_BLOCK,
                                   .at = RECORDING_PAGE,
                                   .size = size + RECORDING_PAGE,
                                   .used = size,
                                   .kind = RECORDING_CHUNK};
    char *zeros = calloc(1, size);
    FILE *file;

    assert_non_null(zeros);
    Recording_put_head(recording, &head);
    Recording_put(recording);
    block.data_check = Recording_check(RECORDING_SEED, zeros, size);
    block.check = RecordingBlock_check(&block);
    free(zeros);
    file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, RECORDING_PAGE, SEEK_SET);
    assert_int_equal(fwrite(&block, sizeof block, 1, file), 1);
    fclose(file);
    assert_int_equal(truncate(path, (off_t)(size + 2 * RECORDING_PAGE)), 0);
}

TEST(a_small_file_with_many_events)
{
    const struct RecordingWatch nobody = {0};

    forge(3 * 3840);
    assert_int_equal(
        RecordingReader_open(&reader, path, nobody, why, sizeof why), 0);
    assert_int_equal(reader.view.chunk_count, 1);
    assert_int_equal(reader.view.chunks[0]->event_count, 3840);
    forget();
    forge(8 << 20);
    assert_int_equal(found(), 0);
    assert_int_equal(reader.damaged, 1);
    assert_true(reader.data.capacity + reader.events.capacity < 20 << 20);
    forget();
    forge(100 << 20);
    assert_int_equal(found(), 0);
    assert_int_equal(reader.data.capacity, 0);
    forget();
}

TEST(what_is_none)
{
    store("{}", 2);
    assert_int_equal(found(), -EINVAL);
    assert_string_equal(why, "this is no recording of Ocular's");
    unlink(path);
    assert_int_equal(found(), -ENOENT);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(found(), -EINVAL);
    unlink(path);
}

// --- Stacks ------------------------------------------------------------------

// Reads a recording that has only stacks, with `count` rows. `parent` is the
// parent of all rows except the root.
static void read_stacks(uint64_t parent, size_t count)
{
    struct Recording *recording = Recording_new_in_memory();
    struct RecordingHead own = {.hz = 1e9};
    struct FlameRow *rows = calloc(count, sizeof *rows);
    struct FlameTable *table = FlameTable_new();
    const struct Message message = {.type = MESSAGE_STACKS, .stacks = table};
    struct RecordingBlock block = {.kind = RECORDING_STACKS};
    struct RecordingSlot slot = {0};
    struct Bytes bytes;
    size_t i;

    rows[0] = (struct FlameRow){NULL_U64, NULL_U64, NAN, NAN, 0, 0};
    for (i = 1; i < count; i++)
        rows[i] = (struct FlameRow){parent, 7, NAN, NAN, 9, 0};
    table->rows = rows;
    table->row_count = count;
    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &message), 0);
    while (bytes.size % 8)
        Bytes_put_u8(&bytes, 0);
    Recording_put_head(recording, &own);
    assert_int_equal(
        Recording_append(recording, &slot, &block, bytes.data, bytes.size), 0);
    assert_int_equal(RecordingReader_read(&reader, recording, NULL,
                                          (struct RecordingWatch){0}, why,
                                          sizeof why),
                     0);
    Bytes_release(&bytes);
    FlameTable_free(table);
    free(rows);
    Recording_put(recording);
}

TEST(test_stacks_that_are_no_tree)
{
    read_stacks(0, 2);
    assert_non_null(reader.stacks);
    assert_int_equal(reader.stacks->rows[1].cpu_ns, 9);
    assert_int_equal(reader.damaged, 0);
    RecordingReader_close(&reader);
    // A reader that follows these parents would never end.
    read_stacks(1, 2);
    assert_null(reader.stacks);
    assert_int_equal(reader.damaged, 1);
    RecordingReader_close(&reader);
}

// The conversion of very many rows could not be cancelled for hours.
TEST(test_more_stacks_than_a_program_writes)
{
    read_stacks(0, FLAME_NODES);
    assert_non_null(reader.stacks);
    RecordingReader_close(&reader);
    read_stacks(0, FLAME_NODES + 1);
    assert_null(reader.stacks);
    assert_int_equal(reader.damaged, 1);
    RecordingReader_close(&reader);
}

int main(void)
{
    return Unit_run(make_folder, remove_folder);
}
