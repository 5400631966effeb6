// SPDX-License-Identifier: MIT
// The annotate view shows a function's source and bytecode, and the
// specialisation, hits and time of each instruction. The view requests only the
// code of this function.
#pragma once

#include "tui/views/view.h"

extern const struct View ANNOTATE_VIEW;
