// SPDX-License-Identifier: MIT
// A listing together with its source: the kind of each line of the annotate
// view, the samples of each source line, and the instructions that are jump
// targets. The annotate view makes another for each listing. One thread.
#ifndef OCULAR_TUI_MODEL_ANNOTATION_H
#define OCULAR_TUI_MODEL_ANNOTATION_H

#include "ipc/listing.h"
#include "tui/model/source.h"

enum EntryKind {
    ENTRY_NOTE,   // why there is no source, or why it may be wrong
    ENTRY_SOURCE, // a source line
    ENTRY_GAP,    // lines that are left out, as they have no code
    ENTRY_CODE,   // an instruction
    ENTRY_MORE    // the instructions that the process did not send
};

struct Entry {
    enum EntryKind kind;
    uint64_t line;    // SOURCE: its number; GAP: of the first line left out
    uint64_t count;   // GAP: lines; MORE: instructions
    uint32_t row;     // CODE: index in the listing
    bool first;       // CODE: it is the first of its line
    double samples;   // SOURCE: sum of its instructions'; NaN: not known
    double c_samples; // SOURCE: those of `samples` that were in C
};

struct Annotation {
    struct Entry *entries;
    size_t count;
    uint32_t *labels;   // of each row; 0: no instruction jumps there
    double samples;     // sum of all rows'; NaN: no sampler
    double most_cycles; // of a row's cycles; NaN: none are known
    double least_cycles;
};

// 0 or -ENOMEM. Leaves out source that is not fine, and adds a note that says
// why.
int Annotation_make(struct Annotation *annotation,
                    const struct Listing *listing, const struct Source *source);
void Annotation_release(struct Annotation *annotation);
// Returns the row at an offset, or LISTING_ROWS.
size_t Annotation_row(const struct Listing *listing, uint64_t offset);
// Returns the entry of a row; the first one if it has none.
size_t Annotation_entry(const struct Annotation *annotation, size_t row);

#endif
