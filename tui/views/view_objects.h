// SPDX-License-Identifier: MIT
// The objects view shows of which types objects are created and freed, and
// which types only grow. Enter on a type also shows which functions create its
// objects.
#pragma once

#include "tui/views/view.h"

extern const struct View OBJECTS_VIEW;
