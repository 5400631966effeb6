// SPDX-License-Identifier: MIT
// Tests ipc/wire. Every message is the same after it was encoded and decoded.
// Frames that are truncated, damaged, older or newer are either read or
// refused, but never trusted.
#include "ipc/wire.h"
#include "tests/random.h"

#include <errno.h>
#include <string.h>

#include "tests/unit.h"

#define HEADER 12

static void fill(struct Arena *owner, const struct Record *record, char *value);

static void fill_list(struct Arena *owner, const struct Field *field,
                      char *value)
{
    size_t count = random_u64() % 6;
    char *items = Arena_alloc(owner, count * field->record->size);

    for (size_t i = 0; i < count; i++)
        fill(owner, field->record, items + i * field->record->size);
    *(void **)(value + field->offset) = items;
    *(size_t *)(value + field->count_offset) = count;
}

static void fill(struct Arena *owner, const struct Record *record, char *value)
{
    static const char *const texts[] = {"", "f", "pkg/mod.py", "\xc3\xa9\x1b",
                                        NULL};

    Record_clear(record, value);
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        char *at = value + field->offset;

        if (field->type == FIELD_LIST)
            fill_list(owner, field, value);
        else if (random_u64() % 8 == 0)
            continue; // the field keeps its initial value, which means null
        else if (field->type == FIELD_BOOL)
            *(uint64_t *)at = random_u64() % 2;
        else if (field->type == FIELD_STATE)
            *(uint64_t *)at = random_u64() % 3;
        else if (field->type == FIELD_U64)
            *(uint64_t *)at = random_u64();
        else if (field->type == FIELD_F64)
            *(double *)at = (double)random_u64() / 3;
        else
            *(const char **)at = Arena_text(owner, texts[random_u64() % 5]);
    }
}

static struct Snapshot *random_snapshot(void)
{
    struct Snapshot *snapshot = Snapshot_new();

    fill(&snapshot->arena, &SNAPSHOT_RECORD, (char *)snapshot);
    return snapshot;
}

static struct Listing *random_listing(void)
{
    struct Listing *listing = Listing_new();

    fill(&listing->arena, &LISTING_RECORD, (char *)listing);
    return listing;
}

static void compare(const struct Record *record, const char *a, const char *b)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        const char *x = a + field->offset, *y = b + field->offset;

        if (field->type == FIELD_TEXT) {
            const char *s = *(char *const *)x, *t = *(char *const *)y;

            assert_int_equal(!s, !t);
            if (s)
                assert_string_equal(s, t);
        } else if (field->type == FIELD_LIST) {
            size_t count = *(const size_t *)(a + field->count_offset);
            size_t size = field->record->size;

            assert_int_equal(count, *(const size_t *)(b + field->count_offset));
            for (size_t j = 0; j < count; j++)
                compare(field->record, *(char *const *)x + j * size,
                        *(char *const *)y + j * size);
        } else {
            // The bits are compared, because NaN stands for null, and NaN is
            // not equal to NaN.
            assert_memory_equal(x, y, 8);
        }
    }
}

static struct Bytes encoded(const struct Message *message)
{
    struct Bytes bytes;

    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, message), 0);
    return bytes;
}

// Decodes a message, and checks that it takes all bytes.
static void decode_all(struct Message *out, const struct Bytes *bytes)
{
    assert_int_equal(
        Message_decode(out, bytes->data, bytes->size, WIRE_MAX_FRAME),
        bytes->size);
}

// Encodes and decodes `in`, and compares the results. At the offset `member`,
// struct Message has a pointer to a struct that `record` describes.
static void check_round_trip(struct Message in, const struct Record *record,
                             size_t member)
{
    struct Bytes bytes = encoded(&in);
    struct Message out;
    char **sent = (char **)((char *)&in + member);
    char **received = (char **)((char *)&out + member);

    decode_all(&out, &bytes);
    assert_int_equal(out.type, in.type);
    assert_int_equal(out.request, in.request);
    compare(record, *sent, *received);
    Message_release(&in);
    Message_release(&out);
    assert_null(*received);
    Bytes_release(&bytes);
}

TEST(test_snapshot_round_trip)
{
    for (int i = 0; i < 300; i++)
        check_round_trip((struct Message){.type = MESSAGE_SNAPSHOT,
                                          .request = 9,
                                          .snapshot = random_snapshot()},
                         &SNAPSHOT_RECORD, offsetof(struct Message, snapshot));
}

static void check_message(struct Message in)
{
    struct Bytes bytes = encoded(&in);
    struct Message out;

    decode_all(&out, &bytes);
    assert_int_equal(out.type, in.type);
    assert_int_equal(out.request, in.request);
    assert_int_equal(out.version, in.version);
    assert_true(out.number == in.number);
    assert_true(out.value == in.value);
    assert_int_equal(!out.text, !in.text);
    if (in.text)
        assert_string_equal(out.text, in.text);
    assert_null(out.snapshot);
    Message_release(&out);
    assert_null(out.text);
    Bytes_release(&bytes);
}

TEST(test_message_round_trips)
{
    char text[] = "/tmp/trace one.json", empty[] = "";
    const struct Message messages[] = {
        {.type = MESSAGE_HELLO, .version = 1, .number = 4711, .text = text},
        {.type = MESSAGE_HELLO, .version = UINT32_MAX},
        {.type = MESSAGE_REPLY, .request = UINT32_MAX, .number = UINT64_MAX},
        {.type = MESSAGE_REPLY, .request = 1, .value = 0.5, .text = text},
        {.type = MESSAGE_ERROR, .request = 3, .number = 22, .text = empty},
        {.type = MESSAGE_END},
        {.type = MESSAGE_RATE, .request = 1, .value = 0.1},
        {.type = MESSAGE_DETAIL, .request = 1, .number = 77},
        {.type = MESSAGE_REARM, .request = 1},
        {.type = MESSAGE_BUDGET, .request = 1, .value = 0.01},
        {.type = MESSAGE_EXPORT, .request = 1, .text = text},
        {.type = MESSAGE_EXPORT_PATH, .request = 1},
        {.type = MESSAGE_CANCEL, .request = 1},
        {.type = MESSAGE_FLAME, .request = 1},
        {.type = MESSAGE_NOW, .request = 1},
        {.type = MESSAGE_TASKS, .request = 1},
        {.type = MESSAGE_TASK_GROUP, .request = 1, .number = 1ull << 62},
        {.type = MESSAGE_NATIVE, .request = 1},
        {.type = MESSAGE_HANDOUT, .request = 1, .number = 1},
        {.type = MESSAGE_RECORDING, .request = 1, .number = 9, .value = 10},
    };

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        check_message(messages[i]);
}

// Docs/protocol.md shows this frame, and viewers that other people have written
// depend on it.
TEST(test_layout)
{
    static const uint8_t expected[] = {'O', 'c', 16, 0, 8, 0, 0, 0, 7,    0,
                                       0,   0,   0,  0, 0, 0, 0, 0, 0xe0, 0x3f};
    struct Message rate = {.type = MESSAGE_RATE, .request = 7, .value = 0.5};
    struct Bytes bytes = encoded(&rate);

    assert_int_equal(bytes.size, sizeof(expected));
    assert_memory_equal(bytes.data, expected, sizeof(expected));
    Bytes_release(&bytes);
}

TEST(test_encode_refuses)
{
    struct Message message = {.type = MESSAGE_EXPORT};
    struct Bytes bytes;
    char *text = malloc(WIRE_MAX_REQUEST + 1);

    memset(text, 'x', WIRE_MAX_REQUEST);
    text[WIRE_MAX_REQUEST] = '\0';
    message.text = text;
    Bytes_init(&bytes);
    Bytes_put_u32(&bytes, 1);
    assert_int_equal(Message_encode(&bytes, &message), -EMSGSIZE);
    assert_int_equal(bytes.size, 4);
    message.type = MESSAGE_ERROR; // messages of a process have a larger limit
    assert_int_equal(Message_encode(&bytes, &message), 0);
    message.type = MESSAGE_SNAPSHOT;
    assert_int_equal(Message_encode(&bytes, &message), -EINVAL);
    message.type = MESSAGE_LISTING;
    assert_int_equal(Message_encode(&bytes, &message), -EINVAL);
    Bytes_release(&bytes);
    free(text);
}

TEST(test_snapshot_over_the_limit)
{
    struct Message message = {.type = MESSAGE_SNAPSHOT};
    struct Snapshot *snapshot = Snapshot_new();
    size_t count = 400000; // this makes a frame of about 90 MB
    struct Function *functions = calloc(count, sizeof(*functions));
    struct Bytes bytes;

    snapshot->functions = functions;
    snapshot->function_count = count;
    message.snapshot = snapshot;
    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &message), -EMSGSIZE);
    assert_int_equal(bytes.size, 0);
    assert_int_equal(bytes.error, 0);
    Bytes_release(&bytes);
    Snapshot_free(snapshot);
    free(functions);
}

static void check_truncation(struct Message message)
{
    struct Bytes bytes = encoded(&message);
    struct Message out;

    for (size_t size = 0; size < bytes.size; size++) {
        // The copy has exactly the size of the frame, so that ASan notices if
        // the decoder reads beyond it.
        uint8_t *copy = malloc(size ? size : 1);

        memcpy(copy, bytes.data, size);
        assert_int_equal(Message_decode(&out, copy, size, WIRE_MAX_FRAME), 0);
        assert_null(out.snapshot);
        if (size >= HEADER) { // now the header says that the frame ends here
            uint32_t length = (uint32_t)(size - HEADER);

            memcpy(copy + 4, &length, 4);
            assert_int_equal(Message_decode(&out, copy, size, WIRE_MAX_FRAME),
                             -EPROTO);
            assert_null(out.snapshot);
            assert_null(out.listing);
        }
        free(copy);
    }
    Message_release(&message);
    Bytes_release(&bytes);
}

TEST(test_truncation_at_every_byte)
{
    check_truncation((struct Message){.type = MESSAGE_SNAPSHOT,
                                      .snapshot = random_snapshot()});
    check_truncation(
        (struct Message){.type = MESSAGE_LISTING, .listing = random_listing()});
}

TEST(test_not_our_protocol)
{
    struct Message out;

    assert_int_equal(Message_decode(&out, "G", 1, WIRE_MAX_FRAME), -EPROTO);
    assert_int_equal(Message_decode(&out, "OK", 2, WIRE_MAX_FRAME), -EPROTO);
    assert_int_equal(Message_decode(&out, "O", 1, WIRE_MAX_FRAME), 0);
    assert_int_equal(Message_decode(&out, NULL, 0, WIRE_MAX_FRAME), 0);
}

static void put_header(struct Bytes *bytes, unsigned type, size_t length)
{
    Bytes_put(bytes, "Oc", 2);
    Bytes_put_u16(bytes, (uint16_t)type);
    Bytes_put_u32(bytes, (uint32_t)length);
    Bytes_put_u32(bytes, 5);
}

TEST(test_unknown_type)
{
    struct Message out;
    struct Bytes bytes;

    Bytes_init(&bytes);
    put_header(&bytes, 999, 3);
    Bytes_put(&bytes, "\xff\xff\xff", 3);
    assert_int_equal(
        Message_decode(&out, bytes.data, bytes.size, WIRE_MAX_REQUEST),
        HEADER + 3);
    assert_int_equal(out.type, 999);
    assert_int_equal(out.request, 5);
    assert_true(out.number == 0);
    assert_null(out.text);
    Bytes_release(&bytes);
}

TEST(test_message_tails)
{
    struct Message out;
    struct Bytes bytes;

    Bytes_init(&bytes);
    // A message of a newer version has five more bytes.
    put_header(&bytes, MESSAGE_REARM, 8 + 5);
    Bytes_put_u64(&bytes, 42);
    Bytes_put(&bytes, "later", 5);
    decode_all(&out, &bytes);
    assert_int_equal(out.number, 42);
    Bytes_clear(&bytes);
    // a message of an older version has no text
    put_header(&bytes, MESSAGE_ERROR, 8);
    Bytes_put_u64(&bytes, 1);
    decode_all(&out, &bytes);
    assert_int_equal(out.number, 1);
    assert_null(out.text);
    Bytes_clear(&bytes);
    // the number in this message is incomplete
    put_header(&bytes, MESSAGE_ERROR, 7);
    Bytes_put(&bytes, "1234567", 7);
    assert_int_equal(
        Message_decode(&out, bytes.data, bytes.size, WIRE_MAX_REQUEST),
        -EPROTO);
    Bytes_release(&bytes);
}

static struct Message decode_snapshot(const struct Bytes *body)
{
    struct Bytes bytes;
    struct Message out;

    Bytes_init(&bytes);
    put_header(&bytes, MESSAGE_SNAPSHOT, body->size + 4);
    Bytes_put_u32(&bytes, (uint32_t)body->size);
    Bytes_put(&bytes, body->data, body->size);
    decode_all(&out, &bytes);
    Bytes_release(&bytes);
    return out;
}

TEST(test_older_snapshot_is_null_at_the_end)
{
    struct Message out;
    struct Bytes body;

    Bytes_init(&body);
    out = decode_snapshot(&body); // this snapshot has no fields
    assert_true(out.snapshot->schema == NULL_U64);
    assert_int_equal(out.snapshot->function_count, 0);
    Message_release(&out);
    Bytes_put_u64(&body, 1);
    Bytes_put_text(&body, "0.0.9");
    Bytes_put_u64(&body, 321);
    out = decode_snapshot(&body);
    assert_int_equal(out.snapshot->schema, 1);
    assert_string_equal(out.snapshot->version, "0.0.9");
    assert_int_equal(out.snapshot->pid, 321);
    assert_null(out.snapshot->command);
    assert_true(isnan(out.snapshot->tsc_hz));
    assert_null(out.snapshot->threads);
    Message_release(&out);
    Bytes_release(&body);
}

// Writes an empty value for each field of a snapshot before the list `name`.
static void put_fields_before(struct Bytes *body, const char *name)
{
    const struct Field *field = SNAPSHOT_RECORD.fields;

    for (; field->type != FIELD_LIST || strcmp(field->name, name); field++)
        if (field->type == FIELD_TEXT)
            Bytes_put_text(body, NULL);
        else if (field->type == FIELD_LIST)
            Bytes_put_u32(body, 0);
        else
            Bytes_put_u64(body, 0);
}

// Writes a snapshot up to its list of threads. The list has one element of an
// older version and one of a newer version.
TEST(test_records_of_other_lengths)
{
    struct Message out;
    struct Bytes body;

    Bytes_init(&body);
    put_fields_before(&body, "threads");
    Bytes_put_u32(&body, 3);
    Bytes_put_u32(&body, 8); // an element of an older version has only the tid
    Bytes_put_u64(&body, 11);
    Bytes_put_u32(&body, 0); // This element has no fields.
    // An element of a newer version has more fields.
    Bytes_put_u32(&body, 8 + 5 + 24 + 9 + 24 + 32 + 6);
    Bytes_put_u64(&body, 33);
    Bytes_put_text(&body, "x");
    Bytes_put_f64(&body, 0.25);
    Bytes_put_f64(&body, 0.5);
    Bytes_put_u64(&body, 9);
    Bytes_put_f64(&body, 1.5);
    Bytes_put_u8(&body, 1);
    Bytes_put_u32(&body, 1);
    Bytes_put_u32(&body, 16);
    Bytes_put_u64(&body, 77);
    Bytes_put_f64(&body, 0.125);
    for (int i = 0; i < 4; i++)
        Bytes_put_f64(&body, 0.1 * i);
    Bytes_put(&body, "future", 6);
    // The next field is functions_total. The decoder must find this field
    // behind the longer elements.
    Bytes_put_u64(&body, 1234);
    out = decode_snapshot(&body);
    assert_int_equal(out.snapshot->thread_count, 3);
    assert_int_equal(out.snapshot->threads[0].tid, 11);
    assert_null(out.snapshot->threads[0].name);
    assert_true(isnan(out.snapshot->threads[0].cpu_share));
    assert_true(out.snapshot->threads[0].samples == NULL_U64);
    assert_true(out.snapshot->threads[1].tid == NULL_U64);
    assert_int_equal(out.snapshot->threads[2].tid, 33);
    assert_string_equal(out.snapshot->threads[2].name, "x");
    assert_int_equal(out.snapshot->threads[2].samples, 9);
    assert_true(out.snapshot->threads[2].cpu_s == 1.5);
    assert_int_equal(out.snapshot->threads[2].ended, 1);
    assert_int_equal(out.snapshot->threads[2].function_count, 1);
    assert_int_equal(out.snapshot->threads[2].functions[0].id, 77);
    assert_true(out.snapshot->threads[2].gil_wait_share == 0.1);
    assert_int_equal(out.snapshot->functions_total, 1234);
    Message_release(&out);
    Bytes_release(&body);
}

// In memory, a message of 4 MB with a million empty functions would take 240
// MB.
TEST(test_hostile_counts)
{
    static const uint32_t counts[] = {1u << 20, UINT32_MAX, 1u << 30};
    struct Bytes body, frame;
    struct Message out;

    for (int i = 0; i < 3; i++) {
        Bytes_init(&body);
        Bytes_init(&frame);
        put_fields_before(&body, "functions");
        Bytes_put_u32(&body, counts[i]);
        memset(Bytes_extend(&body, 4u << 20), 0, 4u << 20);
        put_header(&frame, MESSAGE_SNAPSHOT, body.size + 4);
        Bytes_put_u32(&frame, (uint32_t)body.size);
        Bytes_put(&frame, body.data, body.size);
        assert_int_equal(
            Message_decode(&out, frame.data, frame.size, WIRE_MAX_FRAME),
            -EPROTO);
        assert_null(out.snapshot);
        Bytes_release(&body);
        Bytes_release(&frame);
    }
}

TEST(test_odd_flags_are_null)
{
    struct Snapshot *snapshot = Snapshot_new();
    struct Function *function = Snapshot_alloc(snapshot, sizeof(*function));
    struct Message in = {.type = MESSAGE_SNAPSHOT, .snapshot = snapshot}, out;
    struct Bytes bytes;

    function->calls_exact = 2;
    function->state = 77;
    snapshot->functions = function;
    snapshot->function_count = 1;
    bytes = encoded(&in);
    assert_true(Message_decode(&out, bytes.data, bytes.size, WIRE_MAX_FRAME) >
                0);
    assert_true(out.snapshot->functions[0].calls_exact == NULL_U64);
    assert_true(out.snapshot->functions[0].state == NULL_U64);
    Message_release(&out);
    Message_release(&in);
    Bytes_release(&bytes);
}
