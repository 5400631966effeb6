// SPDX-License-Identifier: MIT
// The exceptions view lists types of exceptions by function, the newest first.
// A row stands for one type of exceptions in one function.
#pragma once

#include "tui/views/view.h"

extern const struct View EXCEPTIONS_VIEW;
