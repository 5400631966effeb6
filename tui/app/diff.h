// SPDX-License-Identifier: MIT
// ocular-top --diff, which `ocular diff` is: prints how two recorded runs
// differ, for people or as JSON. Called by main, once.
#ifndef OCULAR_TUI_APP_DIFF_H
#define OCULAR_TUI_APP_DIFF_H

#include "tui/app/options.h"

// 0, or -errno with `why`. *slower: a function is slower by more than
// options->fail_above.
int Diff_run(const struct Options *options, bool *slower, char *why,
             size_t why_size);

#endif
