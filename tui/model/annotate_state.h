// SPDX-License-Identifier: MIT
// The state of the annotate view: the function that it shows, the function's
// newest code and source, and the samples of the chosen period. Draws nothing.
// One thread.
#ifndef OCULAR_TUI_MODEL_ANNOTATE_STATE_H
#define OCULAR_TUI_MODEL_ANNOTATE_STATE_H

#include "tui/model/annotation.h"
#include "tui/model/history.h"
#include "tui/model/model.h"

struct AnnotateState {
    uint64_t id;    // id of the function; 0: none was selected
    char name[256]; // the function's name when it was selected
    // the newest listing, with the period's samples in its rows; owned; NULL:
    // none came yet
    struct Listing *listing;
    struct ListingRow *rows; // the rows of `listing`; NULL: no memory
    struct History history;
    // samples since the start as the process reported them, one total a row
    struct Moment now;
    enum Period period; // never PERIOD_LATELY
    double period_s;    // length of the period in seconds
    struct Source source;
    struct Annotation annotation;
    // the program made the function again, and this is the newer one
    bool replaced;
};

void AnnotateState_release(struct AnnotateState *state);
// Forgets the listing: the next one is of another stretch of the run.
void AnnotateState_forget(struct AnnotateState *state);
// Shows another function, or none if `row` is NULL. Returns false and changes
// nothing if `row` is the function that is shown already.
bool AnnotateState_select(struct AnnotateState *state, const struct Row *row);
// Returns the function that has replaced the one shown, for example after a
// reload: a newer one with the same name, file and line. Returns NULL if there
// is none.
const struct Row *AnnotateState_successor(const struct AnnotateState *state,
                                          const struct Model *model);
// Takes over a listing of the function. `pid` is the process whose files are
// read; 0: this one. Returns 0, or -ENOMEM if there is nothing to show.
int AnnotateState_take(struct AnnotateState *state, struct Listing *listing,
                       pid_t pid);
// Starts PERIOD_SINCE now and shows it. There must be a listing. Returns the
// same as AnnotateState_take.
int AnnotateState_mark(struct AnnotateState *state);
// Shows the next period. Returns the same as AnnotateState_take.
int AnnotateState_next_period(struct AnnotateState *state);

#endif
