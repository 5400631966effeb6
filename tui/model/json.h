// SPDX-License-Identifier: MIT
// Writes a snapshot as one line of JSON, by walking the schema in snapshot.h: a
// group becomes an object, null becomes null. json.c alone uses json-c. Any
// thread.
#ifndef OCULAR_TUI_MODEL_JSON_H
#define OCULAR_TUI_MODEL_JSON_H

#include "ipc/base/bytes.h"
#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

// Each appends an object and a newline. 0 or -ENOMEM. The text is valid UTF-8
// and escapes all characters that could disturb a terminal.
int Json_listing(struct Bytes *out, const struct Listing *listing);
// Writes since_s, if it is not NaN, as "counts_since_s", and tid, if it is not
// null, as "shares_of_tid".
int Json_snapshot(struct Bytes *out, const struct Snapshot *snapshot,
                  double since_s, uint64_t tid);
int Json_stacks(struct Bytes *out, const struct FlameTable *table);

#endif
