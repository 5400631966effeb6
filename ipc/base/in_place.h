// SPDX-License-Identifier: MIT
// The last step of writing a file beside its place: giving it its name. Any
// thread, no state.
#ifndef OCULAR_IPC_BASE_IN_PLACE_H
#define OCULAR_IPC_BASE_IN_PLACE_H

#include <stdbool.h>

// Renames `temporary` to `name`, both in a directory (or AT_FDCWD). 0 or
// -errno: -EEXIST where something has that name, and is not to be overwritten;
// then and after other errors the temporary stays.
int InPlace_put(int directory, const char *temporary, const char *name,
                bool overwrite);

#endif
