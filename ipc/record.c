// SPDX-License-Identifier: MIT
// Implements record.h. The functions of record.c work with any struct Record,
// and are pure.
#include "ipc/record.h"

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
