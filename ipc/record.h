// SPDX-License-Identifier: MIT
// struct Record is the schema of a struct in a message: a table with one row
// for each member. The wire format, ocular-top's JSON and ocular.snapshot()
// read these tables, so a new number needs only a member and a row. A new row
// goes to the end of its table, because the order of rows is the order on the
// wire.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Null is a value that means "not measured". Null never means 0.
#define NULL_U64 UINT64_MAX
#define NULL_F64 NAN

enum FieldType {
    FIELD_BOOL, // A uint64_t that is 0 or 1, or NULL_U64 for null.
    FIELD_U64,  // A uint64_t, which is NULL_U64 for null.
    FIELD_F64,  // A double, which is NaN for null.
    FIELD_TEXT, // A const char * to UTF-8 text, which is NULL for null.
    // A uint64_t with an enum FunctionState, or NULL_U64 for null. State_name()
    // returns the text of such a number.
    FIELD_STATE,
    // A list: a pointer at the offset `offset`, and a size_t at the offset
    // `count_offset`.
    FIELD_LIST
};

struct Field {
    const char *name; // Name of the member in JSON.
    // Name of the JSON object that contains the member, or NULL.
    const char *group;
    enum FieldType type;
    size_t offset;
    // Only for FIELD_LIST: offset of the number of elements.
    size_t count_offset;
    // Only for FIELD_LIST: the table of the list's elements.
    const struct Record *record;
    // Only for FIELD_LIST: true if the list has at most one element. In JSON
    // the member is then this element, or null.
    bool optional;
};

struct Record {
    const char *name;
    size_t size; // sizeof the struct that the table describes.
    const struct Field *fields;
    size_t field_count;
};

// Sets every member that the table describes to null or empty. Memory from an
// arena is zeroed, and zero is not null. So call Record_clear() before you set
// the known members of a struct.
void Record_clear(const struct Record *record, void *value);
