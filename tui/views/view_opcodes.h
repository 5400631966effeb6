// SPDX-License-Identifier: MIT
// The opcodes view shows the log of transitions (the instruction, its old and
// new opcode, and the time), the count of each kind of transition, and the
// storms (instructions that change again and again).
#pragma once

#include "tui/views/view.h"

extern const struct View OPCODES_VIEW;
