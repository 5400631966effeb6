// SPDX-License-Identifier: MIT
#include "ipc/record.h"
#include "ipc/base/arena.h"
#include "ipc/base/heap.h"

#include <string.h>

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

// A copied member may refer to other memory. Replaces the memory to which a
// copied member refers by a copy in the arena.
static bool own_field(const struct Field *field, char *value,
                      struct Arena *arena)
{
    void **at = (void **)(value + field->offset);
    size_t count, size;
    char *items;
    bool whole;

    if (field->type == FIELD_TEXT && *at)
        return (*at = (void *)Arena_text(arena, *at)) != NULL;
    if (field->type != FIELD_LIST)
        return true;
    count = *(const size_t *)(value + field->count_offset);
    size = field->record->size;
    items = Arena_alloc(arena, (count + 1) * size);
    whole = items;
    if (items && count)
        memcpy(items, *at, count * size);
    for (size_t i = 0; whole && i < count; i++)
        for (size_t k = 0; whole && k < field->record->field_count; k++)
            whole =
                own_field(&field->record->fields[k], items + i * size, arena);
    *at = items;
    if (!whole)
        clear_field(field, value);
    return whole;
}

static bool is_named(const struct Field *field, const char *name)
{
    return strcmp(field->name, name) == 0 ||
           (field->group && strcmp(field->group, name) == 0);
}

bool Record_take(const struct Record *record, void *to, const void *from,
                 const char *name, struct Arena *arena)
{
    bool whole = true;

    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        size_t at = field->offset;

        if (!is_named(field, name))
            continue;
        memcpy((char *)to + at, (const char *)from + at, 8);
        if (field->type == FIELD_LIST)
            memcpy((char *)to + field->count_offset,
                   (const char *)from + field->count_offset, sizeof(size_t));
        if (whole)
            whole = own_field(field, to, arena);
        else
            clear_field(field, to);
    }
    return whole;
}

void *Record_new(const struct Record *record)
{
    void *value = Heap_zeroed(1, record->size);

    if (value)
        Record_clear(record, value);
    return value;
}
