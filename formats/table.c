// SPDX-License-Identifier: MIT
// See table.h.
#include "formats/table.h"
#include "formats/conversion.h"

const struct Formats Table_formats = {Conversion_run};
