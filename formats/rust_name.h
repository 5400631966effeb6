// SPDX-License-Identifier: MIT
// Writes a Rust function's name as in the source. A symbol has either the older
// form, which is like that of C++, or the newer one ("v0", since Rust 1.59).
// The arguments of generic functions and types are left out.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Returns false if `symbol` is not one of Rust's. Then `text` is undefined.
bool RustName_write(const char *symbol, char *text, size_t size);
