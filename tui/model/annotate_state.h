// SPDX-License-Identifier: MIT
// AnnotateState is the state of the annotate view. The state has the selected
// function, the function's newest code and source, and the samples of the
// chosen period.
#pragma once

#include "tui/model/annotation.h"
#include "tui/model/history.h"
#include "tui/model/model.h"

struct AnnotateState {
    uint64_t id;    // Id of the selected function, or 0 if none is selected.
    char name[256]; // The function's name when it was selected.
    // Number of the line that the view selects as soon as there is a listing
    // (0 = none).
    uint64_t line;
    // The newest listing, owned. The listing's rows have the samples of the
    // period. NULL before the first listing.
    struct Listing *listing;
    struct ListingRow *rows; // rows of `listing`, or NULL if memory is out
    struct History history;
    // Numbers of samples since the start of tracing, as the process reported
    // them, one for each row of `listing`.
    struct Moment now;
    enum Period period; // The chosen period of time, but never PERIOD_LATELY.
    double period_s;    // Length of the period in seconds.
    struct Source source;
    struct Annotation annotation;
    // The program has defined the function again, and `id` is the newer
    // function.
    bool replaced;
    bool hides; // The C functions of the listing are not shown.
};

void AnnotateState_release(struct AnnotateState *state);
// Forgets the listing. Called before the viewer shows another stretch of a run.
void AnnotateState_forget(struct AnnotateState *state);
// Selects the function of `row`, or no function if `row` is NULL. Returns false
// and changes nothing if the function is already selected.
bool AnnotateState_select(struct AnnotateState *state, const struct Row *row);
// Returns the function that has replaced the selected function, or NULL. The
// new function has the same name, file and line, and was defined later, for
// example by a reload of the module.
const struct Row *AnnotateState_successor(const struct AnnotateState *state,
                                          const struct Model *model);
// Takes over the ownership of a listing. Reads the source files of process
// `pid` (0 = this process). Returns 0, or -ENOMEM if nothing can be shown.
int AnnotateState_take(struct AnnotateState *state, struct Listing *listing,
                       pid_t pid);
// Starts the period PERIOD_SINCE now, and shows this period. The view must have
// a listing. Returns 0, or -ENOMEM if nothing can be shown.
int AnnotateState_mark(struct AnnotateState *state);
// Shows the next period. Returns 0, or -ENOMEM if nothing can be shown.
int AnnotateState_next_period(struct AnnotateState *state);
