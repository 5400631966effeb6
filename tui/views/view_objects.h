// SPDX-License-Identifier: MIT
// The objects view shows which types of objects are born and die, and which
// types only grow. Enter on a type also shows the functions that create its
// objects.
#pragma once

#include "tui/views/view.h"

extern const struct View OBJECTS_VIEW;
