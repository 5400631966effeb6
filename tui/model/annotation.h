// SPDX-License-Identifier: MIT
// A listing beside its source: which line of the screen is which, what each
// source line took, and which instructions are jumped to. Made anew for each
// listing. One thread.
#ifndef OCULAR_TUI_MODEL_ANNOTATION_H
#define OCULAR_TUI_MODEL_ANNOTATION_H

#include "ipc/listing.h"
#include "tui/model/source.h"

enum EntryKind {
    ENTRY_NOTE,   // why there is no source, or what is to be thought of it
    ENTRY_SOURCE, // a source line
    ENTRY_GAP,    // lines left out: none of them is the function's
    ENTRY_CODE,   // an instruction
    ENTRY_MORE    // instructions that the process did not send
};

struct Entry {
    enum EntryKind kind;
    uint64_t line;    // of SOURCE; the first left out of GAP
    uint64_t count;   // of GAP: lines; of MORE: instructions
    uint32_t row;     // of CODE: in the listing
    bool first;       // CODE: the first of its line
    double samples;   // of SOURCE: of its instructions; NaN: not known
    double c_samples; // of these, in C
};

struct Annotation {
    struct Entry *entries;
    size_t count;
    uint32_t *labels;   // of each row, 0 = nobody jumps there
    double samples;     // of all rows; NaN: no sampler
    double most_cycles; // of a row; NaN: nothing is known
    double least_cycles;
};

// 0 or -ENOMEM. Source that is not fine is left out, and why is a note.
int Annotation_make(struct Annotation *annotation,
                    const struct Listing *listing, const struct Source *source);
void Annotation_release(struct Annotation *annotation);
// The row at an offset, or LISTING_ROWS.
size_t Annotation_row(const struct Listing *listing, uint64_t offset);
// The entry of a row; the first one if it has none.
size_t Annotation_entry(const struct Annotation *annotation, size_t row);

#endif
