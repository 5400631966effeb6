// SPDX-License-Identifier: MIT
// Says whether samples can contain C functions in this session, and adds C
// functions to listings.
#pragma once

#include "ipc/listing.h"
#include "tracer/session/session.h"

// Reads the rows of a file by the library of formats (a NativeReader).
int NativeStacks_read(const char *path, uint64_t inode, uint64_t offset,
                      struct NativeRows *rows);
// Returns the reason why samples cannot contain C functions, and a remedy, or
// NULL. NativeStacks_trouble loads the library of formats.
const char *NativeStacks_trouble(void);
// Adds to the listing of a function the C functions that it has called, as far
// as samples found them running.
void NativeStacks_list(struct Session *session, struct Listing *listing);
