// SPDX-License-Identifier: MIT
// The exceptions view shows the kinds of exceptions, the newest kind first. A
// kind is one type of exception in one function.
#ifndef OCULAR_TUI_VIEWS_VIEW_EXCEPTIONS_H
#define OCULAR_TUI_VIEWS_VIEW_EXCEPTIONS_H

#include "tui/views/view.h"

extern const struct View EXCEPTIONS_VIEW;

#endif
