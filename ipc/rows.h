// SPDX-License-Identifier: MIT
// Each macro of rows.h makes one row of a record's table (record.h). Only files
// with tables of records may include this header, because the names of the
// macros are short.
#pragma once

#include "ipc/record.h"

// The last argument of a row is the rule by which a viewer of several processes
// merges the values. A rule is OWN or MERGE(how, from), with names of enum
// FoldHow and enum FoldAge. A record that is never merged has no rules.
#define MERGE(how_, from_) .how = FOLD_##how_, .from = FOLD_##from_
#define OWN .how = FOLD_OWN
#define ROW(type_, s, member, group_, name_, ...)                              \
    {                                                                          \
        .name = name_, .group = group_, .type = type_,                         \
        .offset = offsetof(struct s, member), __VA_ARGS__                      \
    }
#define BOOL(s, member, ...)                                                   \
    ROW(FIELD_BOOL, s, member, NULL, #member, __VA_ARGS__)
#define U64(s, member, ...)                                                    \
    ROW(FIELD_U64, s, member, NULL, #member, __VA_ARGS__)
#define F64(s, member, ...)                                                    \
    ROW(FIELD_F64, s, member, NULL, #member, __VA_ARGS__)
#define TEXT(s, member, ...)                                                   \
    ROW(FIELD_TEXT, s, member, NULL, #member, __VA_ARGS__)
#define STATE(s, member, ...)                                                  \
    ROW(FIELD_STATE, s, member, NULL, #member, __VA_ARGS__)
#define LIST(s, member, count, table, ...)                                     \
    ROW(FIELD_LIST, s, member, NULL, #member,                                  \
        .count_offset = offsetof(struct s, count), .record = &table,           \
        __VA_ARGS__)
#define OPTIONAL(s, member, count, table, ...)                                 \
    LIST(s, member, count, table, .optional = true, __VA_ARGS__)
// GROUP makes a row whose member is in the JSON object `group`.
#define GROUP(type, s, group, name, ...)                                       \
    ROW(FIELD_##type, s, group##_##name, #group, #name, __VA_ARGS__)
#define GROUP_LIST(s, group, name, count, table, ...)                          \
    GROUP(LIST, s, group, name, .count_offset = offsetof(struct s, count),     \
          .record = &table, __VA_ARGS__)
#define RECORD(s, name_, fields_)                                              \
    {                                                                          \
        .name = name_, .size = sizeof(struct s), .fields = fields_,            \
        .field_count = sizeof(fields_) / sizeof(fields_[0])                    \
    }
