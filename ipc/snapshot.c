// SPDX-License-Identifier: MIT
// The snapshot's memory (an arena that is freed in one go) and its schema: the
// tables that the wire, the viewer's JSON and ocular.snapshot() all walk.
// Built by the collector or by wire.c; read by anybody afterwards.
#include "ipc/snapshot.h"

#include <stdlib.h>
#include <string.h>

// --- The schema. Append rows only: their order is the wire's.

#define ROW(type_, s, member, group_, name_)                                   \
    {                                                                          \
        .name = name_, .group = group_, .type = type_,                         \
        .offset = offsetof(struct s, member)                                   \
    }
#define BOOL(s, member) ROW(FIELD_BOOL, s, member, NULL, #member)
#define U64(s, member) ROW(FIELD_U64, s, member, NULL, #member)
#define F64(s, member) ROW(FIELD_F64, s, member, NULL, #member)
#define TEXT(s, member) ROW(FIELD_TEXT, s, member, NULL, #member)
#define STATE(s, member) ROW(FIELD_STATE, s, member, NULL, #member)
#define GROUP_U64(s, group, name)                                              \
    ROW(FIELD_U64, s, group##_##name, #group, #name)
#define GROUP_TEXT(s, group, name)                                             \
    ROW(FIELD_TEXT, s, group##_##name, #group, #name)
#define GROUP_F64(s, group, name)                                              \
    ROW(FIELD_F64, s, group##_##name, #group, #name)
#define LIST(s, member, count, table)                                          \
    {                                                                          \
        .name = #member, .type = FIELD_LIST,                                   \
        .offset = offsetof(struct s, member),                                  \
        .count_offset = offsetof(struct s, count), .record = &table            \
    }
#define RECORD(s, name_, fields_)                                              \
    {                                                                          \
        .name = name_, .size = sizeof(struct s), .fields = fields_,            \
        .field_count = sizeof(fields_) / sizeof(fields_[0])                    \
    }

static const struct Field CALLER_FIELDS[] = {
    U64(Caller, id),
    F64(Caller, share),
};
static const struct Record CALLER_RECORD =
    RECORD(Caller, "caller", CALLER_FIELDS);

static const struct Field THREAD_FIELDS[] = {
    U64(Thread, tid),
    TEXT(Thread, name),
    F64(Thread, cpu_share),
    F64(Thread, wait_share),
    U64(Thread, samples),
    F64(Thread, cpu_s),
    BOOL(Thread, ended),
    LIST(Thread, functions, function_count, CALLER_RECORD),
};
static const struct Record THREAD_RECORD =
    RECORD(Thread, "thread", THREAD_FIELDS);

static const struct Field FUNCTION_FIELDS[] = {
    U64(Function, id),
    TEXT(Function, name),
    TEXT(Function, file),
    U64(Function, line),
    U64(Function, calls),
    BOOL(Function, calls_exact),
    F64(Function, calls_estimated),
    F64(Function, calls_per_s),
    F64(Function, share),
    F64(Function, cpu_share),
    F64(Function, wait_share),
    F64(Function, c_share),
    F64(Function, total_share),
    F64(Function, run_share),
    U64(Function, samples),
    U64(Function, self_cycles),
    U64(Function, total_cycles),
    F64(Function, avg_cycles),
    F64(Function, min_cycles),
    F64(Function, p50_cycles),
    F64(Function, p99_cycles),
    U64(Function, waited_cycles),
    STATE(Function, state),
    F64(Function, age_s),
    U64(Function, sites),
    U64(Function, dark_sites),
    U64(Function, specialized_sites),
    U64(Function, specializable_sites),
    LIST(Function, callers, caller_count, CALLER_RECORD),
    BOOL(Function, avg_estimated),
};
static const struct Record FUNCTION_RECORD =
    RECORD(Function, "function", FUNCTION_FIELDS);

static const struct Field TRANSITION_FIELDS[] = {
    F64(Transition, seen_at_s), TEXT(Transition, function),
    TEXT(Transition, file),     U64(Transition, line),
    U64(Transition, offset),    TEXT(Transition, from),
    TEXT(Transition, to),       BOOL(Transition, storm),
    U64(Transition, id),
};
static const struct Record TRANSITION_RECORD =
    RECORD(Transition, "transition", TRANSITION_FIELDS);

static const struct Field PAIR_FIELDS[] = {
    TEXT(TransitionPair, from),
    TEXT(TransitionPair, to),
    U64(TransitionPair, count),
};
static const struct Record PAIR_RECORD =
    RECORD(TransitionPair, "transition_pair", PAIR_FIELDS);

static const struct Field RETIRED_FIELDS[] = {
    TEXT(RetiredRow, name),         TEXT(RetiredRow, file),
    U64(RetiredRow, line),          U64(RetiredRow, objects),
    U64(RetiredRow, calls),         BOOL(RetiredRow, calls_exact),
    U64(RetiredRow, self_cycles),   U64(RetiredRow, total_cycles),
    U64(RetiredRow, waited_cycles), F64(RetiredRow, run_share),
    U64(RetiredRow, samples),
};
static const struct Record RETIRED_RECORD =
    RECORD(RetiredRow, "retired", RETIRED_FIELDS);

static const struct Field SNAPSHOT_FIELDS[] = {
    U64(Snapshot, schema),
    TEXT(Snapshot, version),
    U64(Snapshot, pid),
    TEXT(Snapshot, command),
    TEXT(Snapshot, python),
    TEXT(Snapshot, mode),
    U64(Snapshot, threshold),
    F64(Snapshot, uptime_s),
    F64(Snapshot, tsc_hz),
    U64(Snapshot, events),
    U64(Snapshot, lost),
    U64(Snapshot, memory_bytes),
    GROUP_F64(Snapshot, overhead, measured),
    GROUP_F64(Snapshot, overhead, budget),
    GROUP_F64(Snapshot, overhead, hooks),
    GROUP_F64(Snapshot, overhead, rearm),
    GROUP_F64(Snapshot, overhead, threads),
    GROUP_U64(Snapshot, sites, armed),
    GROUP_U64(Snapshot, sites, dark),
    GROUP_F64(Snapshot, sampler, hz),
    GROUP_U64(Snapshot, sampler, samples),
    GROUP_U64(Snapshot, sampler, unknown),
    GROUP_F64(Snapshot, sampler, elsewhere),
    LIST(Snapshot, threads, thread_count, THREAD_RECORD),
    U64(Snapshot, functions_total),
    LIST(Snapshot, functions, function_count, FUNCTION_RECORD),
    LIST(Snapshot, transitions, transition_count, TRANSITION_RECORD),
    LIST(Snapshot, transition_pairs, transition_pair_count, PAIR_RECORD),
    LIST(Snapshot, retired, retired_count, RETIRED_RECORD),
    U64(Snapshot, threads_dropped),
    GROUP_F64(Snapshot, overhead, allowed),
    GROUP_F64(Snapshot, overhead, mean),
    GROUP_U64(Snapshot, sampler, truncated),
    GROUP_TEXT(Snapshot, sampler, trouble),
};
const struct Record SNAPSHOT_RECORD =
    RECORD(Snapshot, "snapshot", SNAPSHOT_FIELDS);

const char *State_name(uint64_t state)
{
    switch (state) {
    case STATE_ARMED:
        return "armed";
    case STATE_PARTIAL:
        return "partial";
    case STATE_DARK:
        return "dark";
    default:
        return NULL;
    }
}

static void clear_field(const struct Field *field, char *value)
{
    switch (field->type) {
    case FIELD_BOOL:
    case FIELD_U64:
    case FIELD_STATE:
        *(uint64_t *)(value + field->offset) = NULL_U64;
        break;
    case FIELD_F64:
        *(double *)(value + field->offset) = NULL_F64;
        break;
    case FIELD_TEXT:
        *(const char **)(value + field->offset) = NULL;
        break;
    case FIELD_LIST:
        *(const void **)(value + field->offset) = NULL;
        *(size_t *)(value + field->count_offset) = 0;
        break;
    }
}

void Record_clear(const struct Record *record, void *value)
{
    for (size_t i = 0; i < record->field_count; i++)
        clear_field(&record->fields[i], value);
}

// --- The arena

#define CHUNK_MIN ((size_t)4 << 10)
#define CHUNK_MAX ((size_t)1 << 20)

struct SnapshotChunk {
    struct SnapshotChunk *next; // older
    size_t size;                // of data
    size_t used;
    _Alignas(max_align_t) char data[];
};

struct Snapshot *Snapshot_new(void)
{
    struct Snapshot *snapshot = calloc(1, sizeof(*snapshot));

    if (snapshot)
        Record_clear(&SNAPSHOT_RECORD, snapshot);
    return snapshot;
}

void Snapshot_free(struct Snapshot *snapshot)
{
    struct SnapshotChunk *chunk = snapshot ? snapshot->arena : NULL;

    while (chunk) {
        struct SnapshotChunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
    free(snapshot);
}

// A chunk twice as large as the one before, so that a large snapshot takes few
// of them and a small one little memory.
static struct SnapshotChunk *add_chunk(struct Snapshot *snapshot, size_t size)
{
    struct SnapshotChunk *newest = snapshot->arena;
    size_t room = newest ? newest->size * 2 : CHUNK_MIN;
    struct SnapshotChunk *chunk;

    if (room > CHUNK_MAX)
        room = CHUNK_MAX;
    if (room < size)
        room = size;
    if (room > SIZE_MAX / 4)
        return NULL;
    chunk = calloc(1, sizeof(*chunk) + room);
    if (!chunk)
        return NULL;
    chunk->size = room;
    chunk->next = newest;
    snapshot->arena = chunk;
    return chunk;
}

static void *take(struct Snapshot *snapshot, size_t size, size_t alignment)
{
    struct SnapshotChunk *chunk = snapshot->arena;
    size_t start = 0;

    if (chunk)
        start = (chunk->used + alignment - 1) & ~(alignment - 1);
    if (!chunk || start > chunk->size || chunk->size - start < size) {
        chunk = add_chunk(snapshot, size);
        start = 0;
    }
    if (!chunk)
        return NULL;
    chunk->used = start + size;
    return chunk->data + start;
}

void *Snapshot_alloc(struct Snapshot *snapshot, size_t size)
{
    return take(snapshot, size ? size : 1, _Alignof(max_align_t));
}

const char *Snapshot_copy(struct Snapshot *snapshot, const char *text,
                          size_t size)
{
    char *copy;

    if (!text || size == SIZE_MAX)
        return NULL;
    copy = take(snapshot, size + 1, 1);
    if (copy)
        memcpy(copy, text, size); // the arena is zeroed: the NUL is there
    return copy;
}

const char *Snapshot_text(struct Snapshot *snapshot, const char *text)
{
    return text ? Snapshot_copy(snapshot, text, strlen(text)) : NULL;
}

size_t Snapshot_bytes(const struct Snapshot *snapshot)
{
    size_t bytes = sizeof(*snapshot);

    for (struct SnapshotChunk *c = snapshot->arena; c; c = c->next)
        bytes += sizeof(*c) + c->size;
    return bytes;
}
