// SPDX-License-Identifier: MIT
#include "ipc/record.h"
#include "ipc/base/heap.h"

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

void *Record_new(const struct Record *record)
{
    void *value = Heap_zeroed(1, record->size);

    if (value)
        Record_clear(record, value);
    return value;
}
