// SPDX-License-Identifier: MIT
// Writes a file that gets its name only after it is complete. If the file
// system and the kernel support unnamed files (O_TMPFILE), a process that is
// killed leaves no incomplete file behind. Any thread may call these functions,
// because they keep no state.
#pragma once

#include <stdbool.h>

// Opens a file without a name in `folder` for writing. The descriptor is closed
// on exec. The path `folder` is relative to the descriptor `directory`, which
// may be AT_FDCWD. Returns a descriptor (Opened_above) or -errno. After an
// error the caller makes a temporary file with a name. -EBADF means that the
// program has closed the descriptor.
int InPlace_open_unnamed(int directory, const char *folder);
// Renames `temporary` to `name`. The two names are relative to the descriptor
// `directory`, which may be AT_FDCWD. If `temporary` is NULL, gives the name to
// the unnamed file `fd`. Returns 0 or -errno. -EEXIST means that a file of this
// name exists and `overwrite` is false. After an error the temporary file
// stays.
int InPlace_put(int directory, const char *temporary, int fd, const char *name,
                bool overwrite);
