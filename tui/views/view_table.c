// SPDX-License-Identifier: MIT
#include "tui/views/view_table.h"

#include "tui/views/view_annotate.h"
#include "tui/views/view_callers.h"
#include "tui/views/view_compare.h"
#include "tui/views/view_exceptions.h"
#include "tui/views/view_flame.h"
#include "tui/views/view_help.h"
#include "tui/views/view_lines.h"
#include "tui/views/view_loops.h"
#include "tui/views/view_main.h"
#include "tui/views/view_objects.h"
#include "tui/views/view_opcodes.h"
#include "tui/views/view_task_group.h"
#include "tui/views/view_tasks.h"
#include "tui/views/view_threads.h"

// The help and the bottom line show the views in the order of VIEWS.
const struct View *const VIEWS[VIEW_COUNT] = {
    [VIEW_MAIN] = &MAIN_VIEW,
    [VIEW_HELP] = &HELP_VIEW,
    [VIEW_ANNOTATE] = &ANNOTATE_VIEW,
    [VIEW_CALLERS] = &CALLERS_VIEW,
    [VIEW_OPCODES] = &OPCODES_VIEW,
    [VIEW_THREADS] = &THREADS_VIEW,
    [VIEW_FLAME] = &FLAME_VIEW,
    [VIEW_COMPARE] = &COMPARE_VIEW,
    [VIEW_LATENCY] = &LATENCY_VIEW,
    [VIEW_LOOPS] = &LOOPS_VIEW,
    [VIEW_TASKS] = &TASKS_VIEW,
    [VIEW_TASK_GROUP] = &TASK_GROUP_VIEW,
    [VIEW_EXCEPTIONS] = &EXCEPTIONS_VIEW,
    [VIEW_OBJECTS] = &OBJECTS_VIEW,
    [VIEW_LINES] = &LINES_VIEW,
};
