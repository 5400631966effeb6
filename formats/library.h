// SPDX-License-Identifier: MIT
// Declares the only symbol that the library exports. Formats_load loads the
// library and calls ocular_formats.
#pragma once

#include "tracer/timeline/formats.h"

// Returns NULL if the library is of another build than the host.
__attribute__((visibility("default"))) const struct Formats *
ocular_formats(const struct FormatsHost *host);
