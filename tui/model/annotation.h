// SPDX-License-Identifier: MIT
// Combines a listing with its source: the kind of each line of the annotate
// view, the samples of each source line, and the instructions that are jump
// targets. The annotate view makes a new annotation for each listing. One
// thread.
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
    // SOURCE: the line's number; GAP: number of the first line left out
    uint64_t line;
    uint64_t count; // GAP: number of lines; MORE: number of instructions
    uint32_t row;   // CODE: index of the row in the listing
    bool first;     // CODE: this is the first instruction of its line
    // number of samples (SOURCE: of all instructions of the line); NaN: not
    // known
    double samples;
    double c_samples; // SOURCE: the part of `samples` that was in C
};

struct Annotation {
    struct Entry *entries;
    size_t count;
    // number of each row's jump label; 0: no instruction jumps there
    uint32_t *labels;
    double samples;     // sum over all rows; NaN: no sampler
    double most_cycles; // largest cycles of a row; NaN: none are known
    double least_cycles;
};

// Makes `annotation`. Leaves the source out if its state is not SOURCE_FINE,
// and adds a note that says why. Returns 0 or -ENOMEM.
int Annotation_make(struct Annotation *annotation,
                    const struct Listing *listing, const struct Source *source);
void Annotation_release(struct Annotation *annotation);
// Returns the index of the row at `offset`, or LISTING_ROWS if there is none.
size_t Annotation_row(const struct Listing *listing, uint64_t offset);
// Returns the index of the entry for `row`, or 0 if it has none.
size_t Annotation_entry(const struct Annotation *annotation, size_t row);

#endif
