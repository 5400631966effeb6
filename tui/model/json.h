// SPDX-License-Identifier: MIT
// Writes a snapshot as one line of JSON according to the schema in snapshot.h:
// a group becomes an object, null becomes null. Any thread.
#ifndef OCULAR_TUI_MODEL_JSON_H
#define OCULAR_TUI_MODEL_JSON_H

#include "ipc/base/bytes.h"
#include "ipc/snapshot.h"

// Each function appends an object and a newline, and returns 0 or -ENOMEM. The
// text is valid UTF-8 and escapes every character that could disturb a
// terminal.
int Json_record(struct Bytes *out, const struct Record *record,
                const void *value);
// Also writes since_s as "counts_since_s" unless it is NaN, and tid as
// "shares_of_tid" unless it is null.
int Json_snapshot(struct Bytes *out, const struct Snapshot *snapshot,
                  double since_s, uint64_t tid);

#endif
