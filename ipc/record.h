// SPDX-License-Identifier: MIT
// struct Record describes a struct in a message by a table with one row for
// each member. The wire format, ocular-top's JSON and ocular.snapshot() all use
// these tables, so a new number needs only a member and a row. A new row must
// be the last one of its table, because the rows have the same order on the
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
    // returns the text of a FunctionState.
    FIELD_STATE,
    // A list: a pointer at the offset `offset`, and a size_t at the offset
    // `count_offset`.
    FIELD_LIST
};

// State of the process from which a record comes. The numbers of a process that
// has ended are the oldest, and those of a live process are the newest.
enum FoldAge { FOLD_ENDED, FOLD_SILENT, FOLD_LIVE };

// enum FoldHow says how the values that several processes have for a field
// become one value. Null values are left out. If all values are null, the
// result is null.
enum FoldHow {
    FOLD_NONE,  // The result is null or an empty list.
    FOLD_OWN,   // tui/model/merge.c sets the field by itself.
    FOLD_ID,    // The id that the function has in the merged row.
    FOLD_KEY,   // Records with the same keys are merged into one record.
    FOLD_FIRST, // The first value.
    FOLD_SAME,  // The value, if all records have the same value.
    FOLD_SUM,
    FOLD_LEAST,
    FOLD_MOST,
    FOLD_ALL,    // True if no value is false.
    FOLD_ANY,    // True if a value is true.
    FOLD_MEAN,   // Mean, weighted by FoldPiece.weight.
    FOLD_MEDIAN, // Weighted median (the lower one of two middle values).
    FOLD_ROOT,   // Root of the sum of squares, for standard deviations.
    FOLD_RUN,    // Sum of values times FoldPiece.run.
    FOLD_AGED,   // The largest sum of a value and its FoldPiece.silent_s.
    FOLD_MATCH,  // A list, whose records are merged by their keys.
    FOLD_JOIN // A list, to which the lists of the other processes are appended.
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
    // Only for FIELD_LIST: true if the list has at most one element. In JSON, a
    // list with at most one element is this element, or null.
    bool optional;
    enum FoldHow how;
    // Values of processes in an earlier state of enum FoldAge are left out.
    enum FoldAge from;
};

struct Record {
    const char *name;
    size_t size; // Size of the struct that the table describes.
    const struct Field *fields;
    size_t field_count;
};

// Sets every member that the table describes to null or empty. Even zeroed
// memory needs Record_clear(), because zero is not null. Call Record_clear()
// before you set the known members of a struct.
void Record_clear(const struct Record *record, void *value);
// Copies members of a struct to another struct of the same type, with all texts
// and lists that they refer to. The copied members are those whose name or
// group is `name`. Returns false if there is no memory, and sets the remaining
// members to null.
struct Arena;
bool Record_take(const struct Record *record, void *to, const void *from,
                 const char *name, struct Arena *arena);
// Allocates a struct, in which every member that the table describes is null or
// empty, and every other member is zero. Returns NULL if there is no memory.
void *Record_new(const struct Record *record);
