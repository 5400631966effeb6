// SPDX-License-Identifier: MIT
// Writes a profile as a file for another tool. The file is built in memory;
// thousands of deep stacks take some MiB. Export calls this, on any thread.
#ifndef OCULAR_FORMATS_PROFILE_FILE_H
#define OCULAR_FORMATS_PROFILE_FILE_H

#include "formats/profile.h"
#include "ipc/file_kind.h"

// Returns 0, -ENOMEM, or -EINVAL if the file is not a profile or Python must
// make it.
int ProfileFile_write(const struct Profile *profile, enum FileContent content,
                      struct Bytes *out);

#endif
