// SPDX-License-Identifier: MIT
// The macros of rows.h make the rows of a record's table (record.h). The names
// of the macros are short, so only files that contain tables of records include
// this header.
#pragma once

#include "ipc/record.h"

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
#define GROUP_BOOL(s, group, name)                                             \
    ROW(FIELD_BOOL, s, group##_##name, #group, #name)
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
#define OPTIONAL(s, member, count, table)                                      \
    {                                                                          \
        .name = #member, .type = FIELD_LIST,                                   \
        .offset = offsetof(struct s, member),                                  \
        .count_offset = offsetof(struct s, count), .record = &table,           \
        .optional = true                                                       \
    }
#define GROUP_LIST(s, group_, name_, count, table)                             \
    {                                                                          \
        .name = #name_, .group = #group_, .type = FIELD_LIST,                  \
        .offset = offsetof(struct s, group_##_##name_),                        \
        .count_offset = offsetof(struct s, count), .record = &table            \
    }
#define RECORD(s, name_, fields_)                                              \
    {                                                                          \
        .name = name_, .size = sizeof(struct s), .fields = fields_,            \
        .field_count = sizeof(fields_) / sizeof(fields_[0])                    \
    }
