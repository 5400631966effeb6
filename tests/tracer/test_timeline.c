// SPDX-License-Identifier: MIT
// Tests the timeline. The tests check open calls, gaps, the limit, and the
// contents of the recording.
#include "formats/event_buffer.h"
#include "tracer/timeline/timeline.h"

#include "tests/formats/frozen.h"
#include "tests/sanitizers.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit.h"

#define MAX_DEPTH 64

static struct RecordingReader reader;
static struct Timeline *timeline;
static struct Ring *ring;

// The errno with which writes fail: growth_error for writes that make the file
// larger, and disk_error for other writes. With 0, writes succeed.
static int growth_error, disk_error;

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    struct stat status;
    int error = disk_error;

    if (growth_error && fstat(fd, &status) == 0 &&
        at + (off_t)size > status.st_size)
        error = growth_error;
    errno = error;
    return error ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

// Makes a timeline whose file has no name and room for `limit` / 2 bytes.
static struct Timeline *make_growing(size_t limit)
{
    int error;
    struct Recording *recording = Recording_new_unnamed("/tmp", &error);

    assert_non_null(recording);
    Recording_set_room(recording, limit / 2);
    return Timeline_new(recording, limit, true);
}

static const struct TimelineView *look(void)
{
    RecordingReader_close(&reader);
    return Frozen_view(timeline, &reader);
}

static uint64_t forgotten(void)
{
    assert_int_equal(Recording_error(Timeline_recording(timeline)), 0);
    return Timeline_forgotten(timeline);
}

static struct OpenCall open_of(const struct TimelineChunk *chunk, size_t i)
{
    struct EventBuffer buffer = {0};
    struct OpenCall call;

    EventBuffer_read(&buffer, chunk);
    assert_true(i < buffer.open_count);
    call = buffer.open[i];
    EventBuffer_release(&buffer);
    return call;
}

// Returns the event that is `from_end` events before the chunk's last event.
static struct Event event_of(const struct TimelineChunk *chunk, size_t from_end)
{
    struct EventBuffer buffer = {0};
    const struct Event *events = EventBuffer_read(&buffer, chunk);
    struct Event event;

    assert_non_null(events);
    event = events[chunk->event_count - 1 - from_end];
    EventBuffer_release(&buffer);
    return event;
}

// A simulated program that goes up and down its stack at random.
struct Program {
    struct Ring *ring;
    uint32_t seed;
    uint64_t ticks;
    unsigned depth;
    uint32_t ids[MAX_DEPTH];
    unsigned pause; // Additional ticks between two events.
};

static void Program_run(struct Program *program, size_t events)
{
    while (events--) {
        program->seed = program->seed * 1664525 + 1013904223;
        program->ticks += 10 + program->pause;
        if (!program->depth ||
            (program->seed >> 31 && program->depth < MAX_DEPTH)) {
            program->ids[program->depth] = program->seed >> 8 & 1023;
            Ring_push(program->ring, program->ticks, EVENT_ENTER,
                      Event_call(program->ids[program->depth], program->depth));
            program->depth++;
        } else {
            program->depth--;
            Ring_push(program->ring, program->ticks, EVENT_LEAVE,
                      Event_call(program->ids[program->depth], program->depth));
        }
    }
}

// Follows the chunks of one thread. Each chunk lists the calls that are open at
// the beginning of the chunk.
static size_t replay(const struct TimelineView *view, unsigned number)
{
    struct OpenCall stack[MAX_DEPTH];
    struct EventBuffer buffer = {0};
    size_t depth = 0, events = 0, i, j;
    bool first = true;

    for (i = 0; i < view->chunk_count; i++) {
        const struct TimelineChunk *chunk = view->chunks[i];
        const struct Event *read = EventBuffer_read(&buffer, chunk);
        const struct OpenCall *open = buffer.open;
        size_t open_count = buffer.open_count;

        if (chunk->thread != number)
            continue;
        assert_true(read || !chunk->event_count);
        if (first) {
            depth = open_count;
            memcpy(stack, open, depth * sizeof *stack);
            first = false;
        }
        assert_int_equal(open_count, depth);
        assert_memory_equal(open, stack, depth * sizeof *stack);
        events += chunk->event_count;
        for (j = 0; j < chunk->event_count; j++) {
            const struct Event *event = &read[j];

            if (Event_kind(event) == EVENT_ENTER) {
                assert_int_equal(Event_level(event), depth);
                stack[depth++] = (struct OpenCall){
                    Event_id(event), Event_level(event), Event_ticks(event)};
            } else {
                assert_int_equal(Event_level(event), --depth);
                assert_int_equal(Event_id(event), stack[depth].id);
            }
        }
    }
    EventBuffer_release(&buffer);
    return events;
}

static struct Track *begin(unsigned number)
{
    struct Track *track = Timeline_begin(timeline, number, 100, "a thread");

    assert_non_null(track);
    return track;
}

// Makes this the timeline of the test, and begins its first thread.
static struct Track *begin_in(struct Timeline *made)
{
    timeline = made;
    return begin(0);
}

static void set_up(void)
{
    ring = Ring_new(NULL);
}

static void tear_down(void)
{
    RecordingReader_close(&reader);
    Timeline_free(timeline);
    Ring_free(ring);
}

TEST_WITH(the_oldest_of_all_threads_is_forgotten, set_up, tear_down)
{
    const size_t limit = 1 << 20;
    struct Program fast = {.ring = Ring_new(NULL), .seed = 1, .ticks = 1000};
    struct Program slow = {.ring = Ring_new(NULL), .seed = 2, .ticks = 1000};
    struct Program idle = {.ring = Ring_new(NULL), .seed = 3, .ticks = 1000};
    struct Track *tracks[3];
    uint64_t pushed = 100, kept;
    const struct TimelineView *view;
    size_t i;

    tracks[0] = begin_in(Frozen_timeline(limit));
    tracks[1] = begin(1);
    tracks[2] = begin(2);
    Program_run(&idle, 100);
    Timeline_drain(timeline, tracks[2], idle.ring);
    for (i = 0; i < FEWER(100); i++) {
        Program_run(&fast, 20000);
        slow.ticks = fast.ticks;
        Program_run(&slow, 200);
        assert_int_equal(Timeline_drain(timeline, tracks[0], fast.ring), 20000);
        assert_int_equal(Timeline_drain(timeline, tracks[1], slow.ring), 200);
        assert_true(Timeline_bytes(timeline) <= limit + (64 << 10));
        pushed += 20200;
    }
    view = look();
    kept = replay(view, 0) + replay(view, 1) + replay(view, 2);
    assert_int_equal(view->forgotten, pushed - kept);
    assert_int_equal(forgotten(), view->forgotten);
    assert_int_equal(view->forgotten, view->threads[0].forgotten +
                                          view->threads[1].forgotten +
                                          view->threads[2].forgotten);
    assert_true(kept * sizeof(struct Event) > limit / 2);
    assert_int_equal(view->threads[2].forgotten, 100);
    assert_true(view->whole_ticks < view->last_ticks);
    // A reader still knows the calls that have not ended, and when they began.
    if (idle.depth) {
        const struct TimelineChunk *last = view->chunks[view->chunk_count - 1];

        assert_int_equal(last->thread, 2);
        assert_int_equal(last->event_count, 0);
        assert_int_equal(last->open_count, idle.depth);
        assert_int_equal(open_of(last, 0).id, idle.ids[0]);
    }
    Ring_free(fast.ring);
    Ring_free(slow.ring);
    Ring_free(idle.ring);
}

// While a reader holds the timeline, the events that it has read are kept, and
// all new events are added.
TEST_WITH(a_reader_finds_all_of_it, set_up, tear_down)
{
    struct Program program = {.ring = ring, .seed = 5, .ticks = 1000};
    struct Track *track = begin_in(Frozen_timeline(1 << 20));
    const struct TimelineView *view;
    size_t i;

    Timeline_hold(timeline, true);
    for (i = 0; i < 3; i++) {
        Program_run(&program, 10000);
        Timeline_drain(timeline, track, program.ring);
    }
    view = look();
    for (i = 0; i < 30; i++) {
        Program_run(&program, 10000);
        Timeline_drain(timeline, track, program.ring);
        assert_int_equal(replay(view, 0), 30000);
    }
    assert_int_equal(forgotten(), 0);
    view = look();
    assert_int_equal(replay(view, 0), 330000);
    Timeline_hold(timeline, false);
    Program_run(&program, 10000);
    Timeline_drain(timeline, track, program.ring);
    assert_true(forgotten() > 100000);
    assert_true(Timeline_bytes(timeline) < 1100 << 10);
}

static void drain(struct Track *track)
{
    assert_true(Timeline_drain(timeline, track, ring) >= 0);
}

TEST_WITH(the_level_is_authoritative, set_up, tear_down)
{
    struct Track *track = begin_in(Frozen_timeline(0));
    const struct TimelineView *view;
    const struct TimelineChunk *last;
    unsigned i;

    for (i = 0; i < 5; i++)
        Ring_push(ring, 10 + i, EVENT_ENTER, Event_call(100 + i, i));
    // This call is at level 2, so the calls at levels 2, 3 and 4 have ended.
    Ring_push(ring, 20, EVENT_ENTER, Event_call(7, 2));
    // This call is at level 9, and the levels before it are empty.
    Ring_push(ring, 21, EVENT_ENTER, Event_call(8, 9));
    // This event ends the call at level 9.
    Ring_push(ring, 22, EVENT_LEAVE, Event_call(9, 5));
    Ring_push(ring, 23, EVENT_LOOP, Event_loop(1, 1, 0));
    // This event ends no call.
    Ring_push(ring, 24, EVENT_DARK, Event_call(100, 0));
    drain(track);
    for (i = 0; i < BLOCK_EVENTS; i++)
        Ring_push(ring, 100 + i, EVENT_LOOP, Event_loop(1, 1, 0));
    drain(track);
    view = look();
    last = view->chunks[view->chunk_count - 1];
    assert_int_equal(last->open_count, 3);
    assert_int_equal(open_of(last, 0).id, 100);
    assert_int_equal(open_of(last, 1).id, 101);
    assert_int_equal(open_of(last, 2).id, 7);
    assert_int_equal(open_of(last, 2).ticks, 20);
}

TEST_WITH(gaps_are_counted_and_marked, set_up, tear_down)
{
    struct Program program = {.ring = ring, .seed = 1, .ticks = 1000};
    struct Track *track = begin_in(Frozen_timeline(64 << 20));
    const struct TimelineView *view;
    const struct TimelineChunk *last;
    struct Event event;

    Program_run(&program, RING_EVENTS + 99);
    drain(track);
    view = look(); // the gap's mark follows
    assert_int_equal(view->lost, 99);
    assert_int_equal(view->threads[0].lost, 99);
    last = view->chunks[view->chunk_count - 1];
    event = event_of(last, 0);
    assert_int_equal(Event_kind(&event), EVENT_LOST);
    assert_int_equal(event.what, 99);

    Program_run(&program, 1);
    drain(track);
    view = look();
    assert_int_equal(view->lost, 99);
    last = view->chunks[view->chunk_count - 1];
    assert_int_equal(last->event_count, 1); // The gap has a mark already.
    event = event_of(last, 0);
    assert_int_not_equal(Event_kind(&event), EVENT_LOST);
}

// --- Threads that end --------------------------------------------------------

// Runs a thread that makes `events` events and ends. The number of the thread
// is also its tid.
static void live(unsigned number, size_t events)
{
    struct Program program = {
        .ring = ring, .seed = number, .ticks = 1000 * (uint64_t)number};
    struct Track *track =
        Timeline_begin(timeline, number, (pid_t)number, "short");

    Program_run(&program, events);
    assert_int_equal(Timeline_drain(timeline, track, ring), events);
    Timeline_end(timeline, track);
}

// Even after very many threads, the newest events and the names of their
// threads take no more memory than the limit.
TEST_WITH(dead_threads_leave_room, set_up, tear_down)
{
    const size_t limit = 256 << 10;
    const unsigned count = FEWER(30000);
    size_t kept = 0, i;
    const struct TimelineView *view;
    unsigned number;

    timeline = Frozen_timeline(limit);
    for (number = 1; number <= count; number++) {
        live(number, number % 5 ? 4 : 100);
        // Pages that are used only in part can exceed the limit a little.
        assert_true(Timeline_bytes(timeline) <= limit + limit / 32);
    }
    view = look();
    for (i = 0; i < view->thread_count; i++) {
        size_t events = replay(view, view->threads[i].number);

        // The timeline has only the newest threads, and each of them has
        // events.
        assert_true(events > 0);
        assert_int_equal(view->threads[i].number,
                         count - view->thread_count + 1 + i);
        assert_int_equal(view->threads[i].tid, view->threads[i].number);
        assert_string_equal(view->threads[i].name, "short");
        kept += events;
    }
    assert_true(kept * sizeof(struct Event) > limit / 3);
    assert_int_equal(forgotten(), count / 5 * 100 + count / 5 * 4 * 4 - kept);
    assert_true(view->first_ticks / 1000 >= count - view->thread_count);
}

// --- Contents of a file -----------------------------------------------------

// Adds 20 000 events and flushes them, `rounds` times.
static void record(struct Track *track, struct Program *program,
                   unsigned rounds)
{
    while (rounds--) {
        Program_run(program, 20000);
        drain(track);
        Timeline_cut(timeline, NULL, 0);
        Recording_flush(Timeline_recording(timeline), true);
        assert_true(Timeline_bytes(timeline) <= 1 << 20);
    }
}

// Records while all writes fail with the error in *where, and again after that.
static void break_and_mend(int *where, int error)
{
    struct Program program = {.ring = ring, .seed = 3, .ticks = 1000};
    struct Track *track = begin_in(make_growing(1 << 20));
    struct Recording *recording = Timeline_recording(timeline);
    const unsigned before = 50, after = 40;
    uint64_t events = 20000 * (before + after), forgotten;

    record(track, &program, before);
    *where = error;
    record(track, &program, after);
    assert_int_equal(Recording_error(recording), -error);
    forgotten = Timeline_forgotten(timeline);
    assert_in_range(forgotten, 1, 20000 * after - 1);
    if (where == &growth_error)
        assert_int_equal(replay(look(), 0) + forgotten, events);
    *where = 0;
    record(track, &program, 2);
    assert_true(Recording_takes_all(recording));
    assert_in_range(Timeline_forgotten(timeline), forgotten, forgotten + 20000);
    events += 2 * 20000 - forgotten;
    if (where == &growth_error)
        assert_in_range(replay(look(), 0), events - 20000, events);
}

// A disk quota is not visible in the free bytes of the file system. If it is
// used up, the newest events overwrite the oldest events in the file.
TEST_WITH(a_quota_that_is_used_up, set_up, tear_down)
{
    break_and_mend(&growth_error, EDQUOT);
}

// If all writes to the disk fail, the newest events stay in memory. The events
// in the file are kept, because forgetting them would not help.
TEST_WITH(a_disk_that_breaks, set_up, tear_down)
{
    break_and_mend(&disk_error, EIO);
}
