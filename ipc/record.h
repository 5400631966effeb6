// SPDX-License-Identifier: MIT
// The schema of messages has one table for each struct, and one row for each
// member. The wire, ocular-top's JSON and ocular.snapshot() walk these tables,
// so a new number needs only a member and a row. A new row goes to the end of
// its table, since the order of rows is the order on the wire.
#ifndef OCULAR_IPC_RECORD_H
#define OCULAR_IPC_RECORD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

// Null is a value that means "not measured". Null never means 0.
#define NULL_U64 UINT64_MAX
#define NULL_F64 NAN

enum FieldType {
    FIELD_BOOL, // uint64_t 0 or 1; NULL_U64 is null
    FIELD_U64,  // uint64_t; NULL_U64 is null
    FIELD_F64,  // double; NaN is null
    FIELD_TEXT, // const char *, UTF-8; NULL is null
    // uint64_t, an enum FunctionState; State_name() is its text, NULL_U64 is
    // null.
    FIELD_STATE,
    FIELD_LIST // a pointer at offset, a size_t at count_offset
};

struct Field {
    const char *name;  // name of the member in JSON
    const char *group; // the JSON object that it is in, or NULL
    enum FieldType type;
    size_t offset;
    size_t count_offset; // only for FIELD_LIST
    // Only for FIELD_LIST: the table of the list's elements.
    const struct Record *record;
};

struct Record {
    const char *name;
    size_t size; // sizeof the struct
    const struct Field *fields;
    size_t field_count;
};

// Sets every member that the table describes to null or empty. Memory from an
// arena is zeroed, and zero is not null. So call Record_clear() before you set
// the known members of a record.
void Record_clear(const struct Record *record, void *value);

#endif
