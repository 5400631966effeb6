// SPDX-License-Identifier: MIT
// Prints the differences between two recorded runs, as a table or as JSON.
// `ocular diff` runs `ocular-top --diff`, whose main function calls Diff_run
// once.
#pragma once

#include "tui/app/options.h"

// Returns 0, or -errno with a sentence in `why` that names the error. Sets
// *slower to true if a function has become slower by more than
// options->fail_above.
int Diff_run(const struct Options *options, bool *slower, char *why,
             size_t why_size);
