// SPDX-License-Identifier: MIT
// The exceptions view shows the kinds of exceptions, the newest kind first. A
// kind is one type of exception in one function.
#pragma once

#include "tui/views/view.h"

extern const struct View EXCEPTIONS_VIEW;
