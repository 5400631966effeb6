// SPDX-License-Identifier: MIT
// Writes a profile as a file for another tool. The file is built in memory, and
// thousands of deep stacks take some MiB. Export calls this code, on any
// thread.
#ifndef OCULAR_FORMATS_PROFILE_FILE_H
#define OCULAR_FORMATS_PROFILE_FILE_H

#include "formats/profile.h"
#include "ipc/file_kind.h"

// Returns 0, -ENOMEM, or -EINVAL if `content` is no profile, or if Python must
// make this kind of profile.
int ProfileFile_write(const struct Profile *profile, enum FileContent content,
                      struct Bytes *out);

#endif
