// SPDX-License-Identifier: MIT
// Finds the table of the members of struct Function, for tests that clear or
// compare functions of a snapshot.
#pragma once

#include "ipc/snapshot.h"

#include <stdlib.h>
#include <string.h>

static inline const struct Record *function_record(void)
{
    for (size_t i = 0; i < SNAPSHOT_RECORD.field_count; i++)
        if (!strcmp(SNAPSHOT_RECORD.fields[i].name, "functions"))
            return SNAPSHOT_RECORD.fields[i].record;
    abort();
}
