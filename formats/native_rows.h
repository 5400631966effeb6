// SPDX-License-Identifier: MIT
// Reads from an ELF file the rules by which the caller of each function is
// found.
#pragma once

#include "tracer/base/native_row.h"

// A NativeReader. Reads the file by elfutils, whose functions use malloc.
// Returns -ELIBACC if the machine has no elfutils.
int NativeRows_read(const char *path, uint64_t inode, uint64_t offset,
                    struct NativeRows *rows);
