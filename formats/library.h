// SPDX-License-Identifier: MIT
// The one symbol of the library that Formats_load opens.
#ifndef OCULAR_FORMATS_LIBRARY_H
#define OCULAR_FORMATS_LIBRARY_H

#include "tracer/timeline/formats.h"

// NULL: it was not built with this host.
__attribute__((visibility("default"))) const struct Formats *
ocular_formats(const struct FormatsHost *host);

#endif
