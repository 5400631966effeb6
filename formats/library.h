// SPDX-License-Identifier: MIT
// Declares the only symbol that the library exports. Formats_load opens the
// library and calls this symbol.
#pragma once

#include "tracer/timeline/formats.h"

// Returns NULL if the library was not built for this host.
__attribute__((visibility("default"))) const struct Formats *
ocular_formats(const struct FormatsHost *host);
