// SPDX-License-Identifier: MIT
// An annotation combines a listing with its source. An annotation contains the
// lines of the annotate view, the samples of each source line, and the labels
// of the jump targets. annotate_state.c makes a new annotation for each
// listing.
#pragma once

#include "ipc/listing.h"
#include "tui/model/source.h"

enum EntryKind {
    ENTRY_NOTE,   // The reason why the source is missing or may be wrong.
    ENTRY_SOURCE, // A source line.
    ENTRY_GAP,    // Source lines without code, which are left out.
    ENTRY_CODE,   // An instruction.
    ENTRY_MORE    // The instructions that the process did not send.
};

struct Entry {
    enum EntryKind kind;
    // SOURCE: the line's number. GAP: number of the first line that is left
    // out.
    uint64_t line;
    uint64_t count; // Number of lines of a GAP, or of instructions of a MORE.
    uint32_t row;   // CODE: index of the row in the listing.
    bool first;     // CODE: this is the first instruction of its line.
    // CODE: samples of the instruction. SOURCE: samples of all instructions of
    // the line. NaN if unknown.
    double samples;
    double c_samples; // SOURCE: the part of `samples` in C code.
    // SOURCE: the hits of the line (NULL_U64 = not counted), and whether they
    // are all hits.
    uint64_t hits;
    bool hits_exact;
    double hits_per_s; // SOURCE (NaN = unknown).
};

struct Annotation {
    struct Entry *entries;
    size_t count;
    // Number of each row's jump label (0 = no instruction jumps to the row).
    uint32_t *labels;
    double samples;     // Samples of all rows (NaN = no sampler).
    double most_cycles; // Largest cycles of a row (NaN = no cycles are known).
    double least_cycles;
};

// Makes `annotation`. If the state of `source` is not SOURCE_FINE, leaves the
// source out and adds a note with the reason. Returns 0 or -ENOMEM.
int Annotation_make(struct Annotation *annotation,
                    const struct Listing *listing, const struct Source *source);
void Annotation_release(struct Annotation *annotation);
// Returns the index of the row at `offset`, or LISTING_ROWS if there is no such
// row.
size_t Annotation_row(const struct Listing *listing, uint64_t offset);
// Returns the index of the entry for `row`, or 0 if the row has no entry.
size_t Annotation_entry(const struct Annotation *annotation, size_t row);
