// SPDX-License-Identifier: MIT
// The schema of messages: one table a struct, one row a member. The wire,
// ocular-top's JSON and ocular.snapshot() walk these tables, so that a new
// number is one member and one row. Rows are only ever appended: their order is
// the wire's.
#ifndef OCULAR_IPC_RECORD_H
#define OCULAR_IPC_RECORD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

// Null is a value: it means "nothing measures this here", never zero.
#define NULL_U64 UINT64_MAX
#define NULL_F64 NAN

enum FieldType {
    FIELD_BOOL,  // uint64_t 0 or 1, NULL_U64 = null
    FIELD_U64,   // uint64_t, NULL_U64 = null
    FIELD_F64,   // double, NaN = null
    FIELD_TEXT,  // const char *, UTF-8, NULL = null
    FIELD_STATE, // uint64_t, enum FunctionState; its text is State_name(),
                 // NULL_U64 = null
    FIELD_LIST   // pointer at offset, size_t count at count_offset
};

struct Field {
    const char *name;  // as in JSON
    const char *group; // the JSON object it lives in, or NULL
    enum FieldType type;
    size_t offset;
    size_t count_offset;         // FIELD_LIST only, as the two below
    const struct Record *record; // the elements' table
};

struct Record {
    const char *name;
    size_t size; // sizeof the struct
    const struct Field *fields;
    size_t field_count;
};

// Makes every member of one struct that the table describes null or empty.
// Records from an arena are zeroed, and zero is not null: clear them, then set
// those that are known.
void Record_clear(const struct Record *record, void *value);

#endif
