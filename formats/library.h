// SPDX-License-Identifier: MIT
// The only exported symbol of the library, which Formats_load opens.
#ifndef OCULAR_FORMATS_LIBRARY_H
#define OCULAR_FORMATS_LIBRARY_H

#include "tracer/timeline/formats.h"

// Returns NULL if the library was not built for this host.
__attribute__((visibility("default"))) const struct Formats *
ocular_formats(const struct FormatsHost *host);

#endif
