// SPDX-License-Identifier: MIT
// Tests that the replay of a recording plays all messages in order, and answers
// requests from the file. The replay plays one snapshot at each call, or
// snapshots at the recorded times. The replay refuses a damaged file, or ends
// early with a message.
#include "ipc/base/heap.h"
#include "tests/tui/sample.h"
#include "tui/model/feed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit.h"

static char path[64], why[512];

static void prepare(void)
{
    snprintf(path, sizeof path, "/tmp/ocular-replay-%d", (int)getpid());
    unlink(path);
}

static void finish(void)
{
    unlink(path);
}

static struct Listing *listing_of(uint64_t id, uint64_t line)
{
    struct Listing *listing = Listing_new();
    assert_non_null(listing);
    listing->id = id;
    listing->line = line;
    return listing;
}

static void add(struct Capture *recording, struct Message message, double at)
{
    Capture_add(recording, &message, at);
    Message_release(&message);
}

// Makes a recording with three snapshots, `apart` seconds apart, and with the
// code of function 1, which it contains twice.
static void record(double apart)
{
    struct Capture recording;
    assert_int_equal(Capture_open(&recording, path, why, sizeof why), 0);
    for (unsigned tick = 0; tick < 3; tick++) {
        struct SampleSpec request = {.tick = tick};
        add(&recording,
            (struct Message){.type = MESSAGE_SNAPSHOT,
                             .snapshot = Sample_new(request)},
            tick * apart);
        if (tick != 1)
            add(&recording,
                (struct Message){.type = MESSAGE_LISTING,
                                 .listing = listing_of(1, 10 + tick)},
                tick * apart);
    }
    add(&recording, (struct Message){.type = MESSAGE_END}, 3 * apart);
    assert_int_equal(Capture_close(&recording), 0);
}

static void open_replay(struct Feed *feed, bool paced)
{
    if (Feed_replay(feed, path, paced, why, sizeof why))
        fail_msg("%s", why);
}

static struct Snapshot *step(struct Feed *feed)
{
    struct Answer answer;
    Feed_step(feed);
    while (Feed_next(feed, &answer))
        ;
    return Feed_take(feed);
}

static void garble(long at, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// Returns the offset in the file of the n-th message of a type.
static long place_of(enum MessageType type, int number)
{
    uint8_t start[CAPTURE_TIME_SIZE + 12];
    long at = CAPTURE_MAGIC_SIZE;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (;;) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fread(start, 1, sizeof start, file), sizeof start);
        struct Cursor cursor = Cursor_of(start + CAPTURE_TIME_SIZE + 2, 6);
        at += (long)sizeof start;
        if (Cursor_u16(&cursor) == type && !number--)
            break;
        at += Cursor_u32(&cursor);
    }
    fclose(file);
    return at - 12;
}

// The replay plays the messages before the damage. Then the replay reports the
// damage, and not the end of the recording.
TEST_WITH(test_damaged_in_the_middle, prepare, finish)
{
    static const struct {
        int offset; // offset in the frame, in bytes
        const char *bytes;
    } damages[] = {
        {12, "\xff\xff\xff\xff"}, {0, "Xc"}, {4, "\xff\xff\xff\xff"}};
    for (size_t i = 0; i < 3; i++) {
        struct Feed feed;
        record(.5);
        garble(place_of(MESSAGE_SNAPSHOT, 1) + damages[i].offset,
               damages[i].bytes, strlen(damages[i].bytes));
        open_replay(&feed, false);
        struct Snapshot *snapshot = step(&feed);
        assert_non_null(snapshot);
        assert_false(feed.ended);
        Snapshot_free(snapshot);
        assert_null(step(&feed));
        assert_true(feed.ended);
        assert_non_null(strstr(feed.reason, "damaged"));
        assert_null(step(&feed));
        Feed_close(&feed);
        unlink(path);
    }
}

static void record_version(uint32_t version)
{
    struct Capture recording;
    assert_int_equal(Capture_open(&recording, path, why, sizeof why), 0);
    add(&recording,
        (struct Message){.type = MESSAGE_HELLO,
                         .version = version,
                         .text = Heap_text("9.9")},
        5);
    add(&recording,
        (struct Message){.type = MESSAGE_SNAPSHOT,
                         .snapshot = Sample_new((struct SampleSpec){0})},
        7);
    assert_int_equal(Capture_close(&recording), 0);
}

TEST_WITH(test_another_protocol, prepare, finish)
{
    struct Feed feed;
    struct Answer answer;
    record_version(WIRE_VERSION);
    open_replay(&feed, true); // The first snapshot comes at once.
    Feed_next(&feed, &answer);
    struct Snapshot *first = Feed_take(&feed);
    assert_non_null(first);
    Snapshot_free(first);
    Feed_close(&feed);
    unlink(path);
    record_version(WIRE_VERSION + 1);
    assert_int_equal(Feed_replay(&feed, path, false, why, sizeof why),
                     -EPROTONOSUPPORT);
    assert_non_null(strstr(why, path));
    assert_non_null(strstr(why, "protocol 2 (Ocular 9.9)"));
    assert_non_null(
        strstr(why, "use the ocular-top that it was recorded with"));
}
