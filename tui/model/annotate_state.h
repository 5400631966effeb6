// SPDX-License-Identifier: MIT
// AnnotateState is the state of the annotate view. AnnotateState consists of
// the selected function, the function's newest code and source, and the samples
// of the chosen period.
#pragma once

#include "tui/model/annotation.h"
#include "tui/model/history.h"
#include "tui/model/model.h"

struct AnnotateState {
    uint64_t id;    // Id of the selected function, or 0 if none is selected.
    char name[256]; // The function's name when it was selected.
    // Number of the line to select as soon as there is a listing (0 = none).
    uint64_t line;
    // The newest listing, owned. The samples in its rows are those of the
    // chosen period. NULL before the first listing.
    struct Listing *listing;
    // The rows of `listing` as an array that may be changed, or NULL if memory
    // is out.
    struct ListingRow *rows;
    struct History history;
    // For each row of `listing`, the number of samples since the start of
    // tracing, as the process has reported it.
    struct Moment now;
    enum Period period; // The chosen period of time, but never PERIOD_LATELY.
    double period_s;    // Length of the period in seconds.
    struct Source source;
    struct Annotation annotation;
    // The program has replaced the function by a newer one, whose id is `id`.
    bool replaced;
    bool hides; // The C functions of the listing are not shown.
};

void AnnotateState_release(struct AnnotateState *state);
// Forgets the listing. Must be called before the viewer shows another stretch
// of a run.
void AnnotateState_forget(struct AnnotateState *state);
// Selects the function of `row`, or no function if `row` is NULL. Returns false
// and changes nothing if this function is already selected.
bool AnnotateState_select(struct AnnotateState *state, const struct Row *row);
// Returns the function that has replaced the selected function, or NULL. The
// new function has the same name, file and line, and was defined later, for
// example by a reload of the module.
const struct Row *AnnotateState_successor(const struct AnnotateState *state,
                                          const struct Model *model);
// Takes ownership of a listing. Reads the source files of process `pid` (0 =
// this process). Returns 0, or -ENOMEM if nothing can be shown.
int AnnotateState_take(struct AnnotateState *state, struct Listing *listing,
                       pid_t pid);
// Starts the period PERIOD_SINCE at this moment, and shows it. The view must
// have a listing. Returns 0, or -ENOMEM if nothing can be shown.
int AnnotateState_mark(struct AnnotateState *state);
// Shows the next period. Returns 0, or -ENOMEM if nothing can be shown.
int AnnotateState_next_period(struct AnnotateState *state);
