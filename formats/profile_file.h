// SPDX-License-Identifier: MIT
// Writes a profile as a file in the format of another tool. The file is made in
// memory, and takes some MiB if there are thousands of deep stacks.
#pragma once

#include "formats/profile.h"
#include "ipc/file_kind.h"

// Returns 0 or -ENOMEM, or -EINVAL if `content` is no profile, or is a profile
// that only Python can make.
int ProfileFile_write(const struct Profile *profile, enum FileContent content,
                      struct Bytes *out);
