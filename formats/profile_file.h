// SPDX-License-Identifier: MIT
// A profile as a file of another tool. Built in memory, some MiB where
// thousands of stacks are deep. Export calls it; any thread.
#ifndef OCULAR_FORMATS_PROFILE_FILE_H
#define OCULAR_FORMATS_PROFILE_FILE_H

#include "formats/profile.h"
#include "ipc/file_kind.h"

// 0, -ENOMEM, or -EINVAL: that is no profile, or Python's to make.
int ProfileFile_write(const struct Profile *profile, enum FileContent content,
                      struct Bytes *out);

#endif
