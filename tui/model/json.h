// SPDX-License-Identifier: MIT
// Writes a record as one line of JSON by its schema (record.h). A group of
// fields becomes an object, and a null value becomes null. json-c makes the
// text. Any thread may call these functions.
#ifndef OCULAR_TUI_MODEL_JSON_H
#define OCULAR_TUI_MODEL_JSON_H

#include "ipc/base/bytes.h"
#include "ipc/snapshot.h"

// Each function appends an object and a newline, and returns 0 or -ENOMEM. The
// text is valid UTF-8 and escapes every character that could disturb a
// terminal.
int Json_record(struct Bytes *out, const struct Record *record,
                const void *value);
// Also writes since_s as "counts_since_s" unless since_s is NaN, and tid as
// "shares_of_tid" unless tid is null.
int Json_snapshot(struct Bytes *out, const struct Snapshot *snapshot,
                  double since_s, uint64_t tid);

#endif
