// SPDX-License-Identifier: MIT
// Implements wire.h (docs/protocol.md). A struct is encoded member by member,
// in the order of its table (record.h). Every record begins with its length.
// Because of the length, an older reader can skip new members at the end, and a
// newer reader reads null for missing members. Code that sends, receives or
// records messages calls these functions on any thread. The functions keep no
// state.
#include "ipc/wire.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <string.h>

// Bytes of the header of a message: magic, type, payload length, request
// number.
#define HEADER_SIZE 12u
#define MAGIC_0 'O'
#define MAGIC_1 'c'

// A null bool or state is the byte NULL_U8.
#define NULL_U8 UINT8_MAX

// A decoded frame may use at most GROWTH_MAX times the bytes that it has on the
// wire. A record in memory is only a few times larger than on the wire, unless
// the sender has left out fields.
#define GROWTH_MAX 8u
#define GROWTH_SLACK ((size_t)64 << 10)

// A set of the bits HAS_... tells which members a type of message has. The
// members of a message have this order on the wire.
enum {
    HAS_VERSION = 1,
    HAS_NUMBER = 2,
    HAS_VALUE = 4,
    HAS_TEXT = 8,
    HAS_CHANGES = 16,
    HAS_SNAPSHOT = 32,
    HAS_LISTING = 64,
    HAS_STACKS = 128
};

// The members of each type of message. A type that is not listed has no
// members, or its content is ignored (EXPORT_PATH).
static const unsigned char members[] = {
    [MESSAGE_HELLO] = HAS_VERSION | HAS_NUMBER | HAS_TEXT,
    [MESSAGE_SNAPSHOT] = HAS_SNAPSHOT,
    [MESSAGE_REPLY] = HAS_NUMBER | HAS_VALUE | HAS_TEXT,
    [MESSAGE_ERROR] = HAS_NUMBER | HAS_TEXT,
    [MESSAGE_NOTICE] = HAS_TEXT,
    [MESSAGE_LISTING] = HAS_LISTING,
    [MESSAGE_STACKS] = HAS_STACKS,
    [MESSAGE_CHANGES] = HAS_CHANGES | HAS_SNAPSHOT,
    [MESSAGE_RECORDING] = HAS_NUMBER | HAS_VALUE | HAS_TEXT,
    [MESSAGE_RATE] = HAS_VALUE,
    [MESSAGE_DETAIL] = HAS_NUMBER,
    [MESSAGE_REARM] = HAS_NUMBER,
    [MESSAGE_BUDGET] = HAS_VALUE,
    [MESSAGE_EXPORT] = HAS_TEXT,
    [MESSAGE_HANDOUT] = HAS_NUMBER,
    [MESSAGE_TASK_GROUP] = HAS_NUMBER,
    [MESSAGE_LATENCIES] = HAS_NUMBER,
};

static unsigned members_of(enum MessageType type)
{
    return type < sizeof members ? members[type] : 0;
}

// The records of a message, in their order on the wire.
static const struct {
    unsigned bit;
    const struct Record *record;
    size_t at;    // Offset of the record's pointer in struct Message.
    size_t arena; // Offset of the arena in the record.
} payloads[] = {
    {HAS_CHANGES, &CHANGES_RECORD, offsetof(struct Message, changes),
     offsetof(struct Changes, arena)},
    {HAS_SNAPSHOT, &SNAPSHOT_RECORD, offsetof(struct Message, snapshot),
     offsetof(struct Snapshot, arena)},
    {HAS_LISTING, &LISTING_RECORD, offsetof(struct Message, listing),
     offsetof(struct Listing, arena)},
    {HAS_STACKS, &FLAME_TABLE_RECORD, offsetof(struct Message, stacks),
     offsetof(struct FlameTable, arena)},
};
#define PAYLOADS (sizeof payloads / sizeof *payloads)

// --- Encoding

static void set_u32(struct Bytes *out, size_t at, size_t value)
{
    for (size_t i = 0; !out->error && i < 4; i++)
        out->data[at + i] = (uint8_t)(value >> (8 * i));
}

static void put_record(struct Bytes *out, const struct Record *record,
                       const char *value);

static void put_list(struct Bytes *out, const struct Field *field,
                     const char *value)
{
    const char *item = *(const char *const *)(value + field->offset);
    size_t count = *(const size_t *)(value + field->count_offset);
    size_t limit = out->size + WIRE_MAX_FRAME;

    if (count > WIRE_MAX_FRAME)
        // A list with so many elements would be larger than a frame may be.
        count = WIRE_MAX_FRAME;
    Bytes_put_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count && !out->error && out->size <= limit; i++)
        put_record(out, field->record, item + i * field->record->size);
}

static void put_field(struct Bytes *out, const struct Field *field,
                      const char *value)
{
    const char *at = value + field->offset;
    uint64_t number;

    switch (field->type) {
    case FIELD_BOOL:
    case FIELD_STATE:
        number = *(const uint64_t *)at;
        Bytes_put_u8(out, number < NULL_U8 ? (uint8_t)number : NULL_U8);
        break;
    case FIELD_U64:
        Bytes_put_u64(out, *(const uint64_t *)at);
        break;
    case FIELD_F64:
        Bytes_put_f64(out, *(const double *)at);
        break;
    case FIELD_TEXT:
        Bytes_put_text(out, *(const char *const *)at);
        break;
    case FIELD_LIST:
        put_list(out, field, value);
        break;
    }
}

static void put_record(struct Bytes *out, const struct Record *record,
                       const char *value)
{
    size_t start = out->size;

    Bytes_put_u32(out, 0); // The length is written after the fields.
    for (size_t i = 0; i < record->field_count; i++)
        put_field(out, &record->fields[i], value);
    set_u32(out, start, out->size - start - 4);
}

// Returns the address of the pointer to a record in the message.
static const void *payload_at(const struct Message *message, size_t i)
{
    return (const char *)message + payloads[i].at;
}

static void put_payload(struct Bytes *out, const struct Message *message)
{
    unsigned has = members_of(message->type);

    if (has & HAS_VERSION)
        Bytes_put_u32(out, message->version);
    if (has & HAS_NUMBER)
        Bytes_put_u64(out, message->number);
    if (has & HAS_VALUE)
        Bytes_put_f64(out, message->value);
    if (has & HAS_TEXT)
        Bytes_put_text(out, message->text);
    for (size_t i = 0; i < PAYLOADS; i++)
        if (has & payloads[i].bit)
            put_record(out, payloads[i].record,
                       *(const char *const *)payload_at(message, i));
}

int Message_encode(struct Bytes *out, const struct Message *message)
{
    size_t start = out->size;
    size_t limit =
        message->type < MESSAGE_RATE ? WIRE_MAX_FRAME : WIRE_MAX_REQUEST;
    unsigned has = members_of(message->type);
    int error;

    for (size_t i = 0; i < PAYLOADS; i++)
        if (has & payloads[i].bit &&
            !*(const void *const *)payload_at(message, i))
            return -EINVAL;
    Bytes_put_u8(out, MAGIC_0);
    Bytes_put_u8(out, MAGIC_1);
    Bytes_put_u16(out, (uint16_t)message->type);
    Bytes_put_u32(out, 0);
    Bytes_put_u32(out, message->request);
    put_payload(out, message);
    error = out->error;
    if (!error && out->size - start > limit)
        error = -EMSGSIZE;
    if (error)
        out->size = start; // Removes the incomplete frame.
    else
        set_u32(out, start + 4, out->size - start - HEADER_SIZE);
    return error;
}

// --- Decoding

struct Decoder {
    struct Arena *arena; // Arena with the memory of the decoded records.
    size_t budget;       // Number of bytes that the decoder may still allocate.
    int error;
};

// Allocates the elements of a list. On failure, returns NULL and sets
// decoder->error.
static char *claim(struct Decoder *decoder, size_t count, size_t size)
{
    char *items;

    if (count > decoder->budget / size) {
        decoder->error = -EPROTO;
        return NULL;
    }
    decoder->budget -= count * size;
    items = Arena_alloc(decoder->arena, count * size);
    if (!items)
        decoder->error = -ENOMEM;
    return items;
}

static void get_record(struct Decoder *decoder, const struct Record *record,
                       struct Cursor *cursor, char *value);

static void get_list(struct Decoder *decoder, const struct Field *field,
                     struct Cursor *cursor, char *value)
{
    size_t count = Cursor_u32(cursor);
    size_t size = field->record->size;
    char *items;

    if (!count || cursor->error)
        return;
    // Each element of a list takes at least four bytes on the wire, which are
    // its length.
    if (count > Cursor_left(cursor) / 4) {
        decoder->error = -EPROTO;
        return;
    }
    items = claim(decoder, count, size);
    if (!items)
        return;
    for (size_t i = 0; i < count && !decoder->error; i++)
        get_record(decoder, field->record, cursor, items + i * size);
    *(const void **)(value + field->offset) = items;
    *(size_t *)(value + field->count_offset) = count;
}

static void get_text(struct Decoder *decoder, struct Cursor *cursor,
                     const char **value)
{
    size_t size;
    const char *text = Cursor_text(cursor, &size);

    if (!text)
        return;
    *value = Arena_copy(decoder->arena, text, size);
    if (!*value)
        decoder->error = -ENOMEM;
}

static void get_field(struct Decoder *decoder, const struct Field *field,
                      struct Cursor *cursor, char *value)
{
    char *at = value + field->offset;
    uint64_t most = field->type == FIELD_BOOL ? 1 : STATE_DARK;
    uint64_t number;

    switch (field->type) {
    case FIELD_BOOL:
    case FIELD_STATE:
        number = Cursor_u8(cursor);
        *(uint64_t *)at = number <= most ? number : NULL_U64;
        break;
    case FIELD_U64:
        *(uint64_t *)at = Cursor_u64(cursor);
        break;
    case FIELD_F64:
        *(double *)at = Cursor_f64(cursor);
        break;
    case FIELD_TEXT:
        get_text(decoder, cursor, (const char **)at);
        break;
    case FIELD_LIST:
        get_list(decoder, field, cursor, value);
        break;
    }
}

// The recursion of get_record() is as deep as the schema's tables are nested.
// The depth of the recursion does not depend on the received bytes.
static void get_record(struct Decoder *decoder, const struct Record *record,
                       struct Cursor *cursor, char *value)
{
    size_t size = Cursor_u32(cursor);
    struct Cursor body;

    Record_clear(record, value);
    if (cursor->error || size > Cursor_left(cursor)) {
        decoder->error = -EPROTO;
        return;
    }
    body = Cursor_of(cursor->at, size);
    cursor->at += size;
    for (size_t i = 0; i < record->field_count && !decoder->error; i++) {
        if (!Cursor_left(&body))
            // An older sender does not know the remaining fields of the record.
            break;
        get_field(decoder, &record->fields[i], &body, value);
        if (body.error && !decoder->error)
            decoder->error = body.error;
    }
}

// Decodes the record number `i` of a message.
static int get_payload_record(struct Message *message, size_t i,
                              struct Cursor *cursor)
{
    char *value = Record_new(payloads[i].record);
    struct Decoder decoder = {.budget = GROWTH_SLACK +
                                        GROWTH_MAX * Cursor_left(cursor)};

    if (!value)
        return -ENOMEM;
    decoder.arena = (struct Arena *)(void *)(value + payloads[i].arena);
    *(void **)(void *)((char *)message + payloads[i].at) = value;
    get_record(&decoder, payloads[i].record, cursor, value);
    return decoder.error;
}

static int get_message_text(struct Message *message, struct Cursor *cursor)
{
    size_t size;
    const char *text = Cursor_text(cursor, &size);

    if (!text)
        return 0;
    message->text = Heap_alloc(size + 1);
    if (!message->text)
        return -ENOMEM;
    memcpy(message->text, text, size);
    message->text[size] = '\0';
    return 0;
}

// Decodes the members of a message. If an older sender has left out a member at
// the end, this member stays zero.
static int get_payload(struct Message *message, struct Cursor *cursor)
{
    unsigned has = members_of(message->type);
    int error = 0;

    if ((has & HAS_VERSION) && Cursor_left(cursor))
        message->version = Cursor_u32(cursor);
    if ((has & HAS_NUMBER) && Cursor_left(cursor))
        message->number = Cursor_u64(cursor);
    if ((has & HAS_VALUE) && Cursor_left(cursor))
        message->value = Cursor_f64(cursor);
    if ((has & HAS_TEXT) && Cursor_left(cursor))
        error = get_message_text(message, cursor);
    for (size_t i = 0; i < PAYLOADS && !error; i++)
        if (has & payloads[i].bit)
            error = get_payload_record(message, i, cursor);
    return error ? error : cursor->error;
}

// Checks the header of a message. Returns 1 if the header is complete, 0 if
// bytes are missing, or -EPROTO.
static int check_start(const uint8_t *bytes, size_t size)
{
    if (size > 0 && bytes[0] != MAGIC_0)
        return -EPROTO;
    if (size > 1 && bytes[1] != MAGIC_1)
        return -EPROTO;
    return size >= HEADER_SIZE;
}

long Message_decode(struct Message *message, const void *data, size_t size,
                    size_t limit)
{
    struct Cursor cursor = Cursor_of(data, size);
    size_t length;
    int error = check_start(data, size);

    memset(message, 0, sizeof(*message));
    if (error <= 0)
        return error;
    Cursor_u16(&cursor);
    message->type = (enum MessageType)Cursor_u16(&cursor);
    length = Cursor_u32(&cursor);
    message->request = Cursor_u32(&cursor);
    if (limit < HEADER_SIZE || length > limit - HEADER_SIZE)
        return -EMSGSIZE;
    if (length > Cursor_left(&cursor))
        return 0;
    cursor = Cursor_of(cursor.at, length);
    error = get_payload(message, &cursor);
    if (error) {
        Message_release(message);
        return error;
    }
    return (long)(HEADER_SIZE + length);
}

void Message_release(struct Message *message)
{
    Heap_free(message->text);
    Snapshot_free(message->snapshot);
    Changes_free(message->changes);
    Listing_free(message->listing);
    FlameTable_free(message->stacks);
    memset(message, 0, sizeof(*message));
}
