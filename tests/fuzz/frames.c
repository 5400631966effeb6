// SPDX-License-Identifier: MIT
// Fuzzes the decoder of the viewer. The decoder gets arbitrary bytes, as if a
// process had sent them. If a message can be decoded, it is read to its last
// byte. If the message is then encoded again, the bytes must be the same.
#include "ipc/wire.h"
#include "tests/fuzz/replay.h"

#include <string.h>

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static uint64_t touch(const struct Record *record, const char *value);

static uint64_t touch_list(const struct Field *field, const char *value)
{
    const char *items = *(const char *const *)(value + field->offset);
    size_t count = *(const size_t *)(value + field->count_offset);
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += touch(field->record, items + i * field->record->size);
    return sum;
}

static uint64_t touch(const struct Record *record, const char *value)
{
    uint64_t sum = 0, word;

    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        const char *at = value + field->offset;

        if (field->type == FIELD_LIST) {
            sum += touch_list(field, value);
        } else if (field->type == FIELD_TEXT) {
            const char *text = *(const char *const *)at;

            sum += text ? strlen(text) : 0;
        } else {
            memcpy(&word, at, sizeof(word));
            sum += word;
        }
    }
    return sum;
}

static uint64_t touch_all(const struct Message *message)
{
    uint64_t sum = message->text ? strlen(message->text) : 0;

    if (message->snapshot)
        sum += touch(&SNAPSHOT_RECORD, (const char *)message->snapshot);
    if (message->changes)
        sum += touch(&CHANGES_RECORD, (const char *)message->changes);
    if (message->listing)
        sum += touch(&LISTING_RECORD, (const char *)message->listing);
    if (message->stacks)
        sum += touch(&FLAME_TABLE_RECORD, (const char *)message->stacks);
    return sum;
}

// Encodes the message, decodes the result, and encodes it again. The bytes of
// both encodings must be the same.
static void check_round_trip(const struct Message *message)
{
    struct Message again;
    struct Bytes first, second;

    Bytes_init(&first);
    Bytes_init(&second);
    if (Message_encode(&first, message) == 0) {
        long used =
            Message_decode(&again, first.data, first.size, WIRE_MAX_FRAME);

        expect(used == (long)first.size);
        expect(Message_encode(&second, &again) == 0);
        expect(first.size == second.size);
        expect(!memcmp(first.data, second.data, first.size));
        Message_release(&again);
    }
    Bytes_release(&first);
    Bytes_release(&second);
}

// Keeps the snapshot, because the viewer applies the next CHANGES to it.
static void keep(struct Snapshot **base, const struct Message *message)
{
    if (!message->snapshot)
        return;
    if (message->type == MESSAGE_CHANGES && *base) {
        expect(Changes_apply(message->changes, *base, message->snapshot) == 0);
        touch_all(message);
    }
    Snapshot_free(*base);
    *base = Snapshot_hold(message->snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // Without this variable, the compiler could leave out the reading.
    static volatile uint64_t sink;
    struct Snapshot *base = NULL;
    struct Message message;

    (void)sink;
    for (size_t at = 0; at < size;) {
        long used =
            Message_decode(&message, data + at, size - at, WIRE_MAX_FRAME);

        expect(used <= (long)(size - at));
        if (used <= 0)
            break;
        sink += touch_all(&message);
        check_round_trip(&message);
        keep(&base, &message);
        Message_release(&message);
        at += (size_t)used;
    }
    Snapshot_free(base);
    return 0;
}
