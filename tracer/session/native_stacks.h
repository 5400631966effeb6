// SPDX-License-Identifier: MIT
// The session's part of the samples of C functions: whether they can be taken,
// and which of them listings show.
#pragma once

#include "ipc/listing.h"
#include "tracer/session/session.h"

// Reads the rows of a file by the library of formats (a NativeReader).
int NativeStacks_read(const char *path, uint64_t inode, uint64_t offset,
                      struct NativeRows *rows);
// Returns the reason why samples cannot have C functions, with the remedy, or
// NULL. Loads the library of formats.
const char *NativeStacks_trouble(void);
// Adds to the listing the C functions on top of the stack below its function.
void NativeStacks_list(struct Session *session, struct Listing *listing);
