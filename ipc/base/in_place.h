// SPDX-License-Identifier: MIT
// A file that is written beside its place and given its name once it is whole.
// If file system and kernel can do that, it has none until then: a process
// that is killed meanwhile leaves nothing. Any thread, no state.
#ifndef OCULAR_IPC_BASE_IN_PLACE_H
#define OCULAR_IPC_BASE_IN_PLACE_H

#include <stdbool.h>

// Makes a file without a name in `folder`, which is seen from the directory
// (or AT_FDCWD), for writing, closed on exec. Descriptor (Opened_above) or
// -errno: the caller is to make one that has a name, instead. -EBADF: the
// program has closed it.
int InPlace_open_unnamed(int directory, const char *folder);
// Renames `temporary` to `name`, both in a directory (or AT_FDCWD); NULL: gives
// the file without a name behind `fd` that name. 0 or -errno: -EEXIST where
// something has that name, and is not to be overwritten; then and after other
// errors the temporary stays.
int InPlace_put(int directory, const char *temporary, int fd, const char *name,
                bool overwrite);

#endif
