// SPDX-License-Identifier: MIT
// The annotate view shows the instructions below their source line, in the
// order of the source. Each source line appears only once, even if several
// ranges of instructions belong to it. If there is no source, instructions are
// sorted by offset.
#include "tui/model/annotation.h"

#include "tui/model/row.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define GAP_MOST 8 // A gap of at most GAP_MOST lines is shown completely.
// Number of lines that are shown at each end of a longer gap.
#define GAP_EDGE 2

struct Place { // A row of the listing and its source line.
    uint64_t line;
    uint32_t row;
};

static int compare_places(const void *left, const void *right)
{
    const struct Place *a = left, *b = right;
    int lines = (a->line > b->line) - (a->line < b->line);
    return lines ? lines : (a->row > b->row) - (a->row < b->row);
}

// Returns an array with the source line of each row of the listing. An
// instruction without a line gets the line of the instruction before it.
static struct Place *make_places(const struct Listing *listing)
{
    struct Place *places = malloc((listing->row_count + 1) * sizeof *places);
    uint64_t line = listing->line != NULL_U64 ? listing->line : 0;
    for (uint32_t i = 0; places && i < listing->row_count; i++) {
        if (listing->rows[i].line != NULL_U64)
            line = listing->rows[i].line;
        places[i] = (struct Place){line, i};
    }
    return places;
}

static struct Entry *add(struct Annotation *annotation, enum EntryKind kind)
{
    struct Entry *entry = &annotation->entries[annotation->count++];
    *entry = (struct Entry){.kind = kind,
                            .samples = NAN,
                            .c_samples = NAN,
                            .hits = NULL_U64,
                            .hits_per_s = NAN};
    return entry;
}

static struct Entry *add_line(struct Annotation *annotation, uint64_t line)
{
    struct Entry *entry = add(annotation, ENTRY_SOURCE);
    entry->line = line;
    return entry;
}

// Adds the source lines from `from` up to, not including, `to`. None of these
// lines has code.
static void add_between(struct Annotation *annotation, uint64_t from,
                        uint64_t to)
{
    uint64_t edge = to - from < GAP_MOST ? to - from : GAP_EDGE;
    uint64_t line = from;
    for (; line < from + edge; line++)
        add_line(annotation, line);
    if (to - line > edge) {
        struct Entry *gap = add(annotation, ENTRY_GAP);
        gap->line = line;
        gap->count = to - line - edge;
        line = to - edge;
    }
    for (; line < to; line++)
        add_line(annotation, line);
}

static void sum(struct Entry *line, const struct ListingRow *row)
{
    line->hits = row->line_hits;
    line->hits_exact = row->line_hits_exact == 1;
    line->hits_per_s = row->line_hits_per_s;
    line->samples = Row_sum(line->samples, Row_u64(row->samples));
    line->c_samples = Row_sum(line->c_samples, Row_u64(row->c_samples));
}

static void interleave(struct Annotation *annotation,
                       const struct Listing *listing,
                       const struct Place *places)
{
    struct Entry *line = NULL;
    uint64_t next = listing->line != NULL_U64 ? listing->line : 0;
    for (size_t i = 0; i < listing->row_count; i++) {
        const struct Place *place = &places[i];
        bool first = !line || line->line != place->line;
        if (first && place->line) {
            if (place->line > next && next)
                add_between(annotation, next, place->line);
            line = add_line(annotation, place->line);
            next = place->line + 1;
        }
        struct Entry *entry = add(annotation, ENTRY_CODE);
        entry->row = place->row;
        entry->first = first;
        if (line)
            sum(line, &listing->rows[place->row]);
    }
}

static void list_code(struct Annotation *annotation,
                      const struct Listing *listing)
{
    uint64_t line = NULL_U64;
    for (uint32_t i = 0; i < listing->row_count; i++) {
        struct Entry *entry = add(annotation, ENTRY_CODE);
        entry->row = i;
        entry->line = listing->rows[i].line;
        entry->first = entry->line != NULL_U64 && entry->line != line;
        if (entry->line != NULL_U64)
            line = entry->line;
    }
}

static int compare_offset(const void *offset, const void *row)
{
    uint64_t a = *(const uint64_t *)offset;
    uint64_t b = ((const struct ListingRow *)row)->offset;
    return (a > b) - (a < b);
}

size_t Annotation_row(const struct Listing *listing, uint64_t offset)
{
    const struct ListingRow *row =
        listing->row_count ? bsearch(&offset, listing->rows, listing->row_count,
                                     sizeof *listing->rows, compare_offset)
                           : NULL;
    return row ? (size_t)(row - listing->rows) : LISTING_ROWS;
}

static void number_labels(struct Annotation *annotation,
                          const struct Listing *listing)
{
    uint32_t number = 0;
    for (size_t i = 0; i < listing->row_count; i++) {
        size_t target = LISTING_ROWS;
        if (listing->rows[i].target != NULL_U64)
            target = Annotation_row(listing, listing->rows[i].target);
        if (target < listing->row_count)
            annotation->labels[target] = 1;
    }
    for (size_t i = 0; i < listing->row_count; i++)
        if (annotation->labels[i])
            annotation->labels[i] = ++number;
}

static void sum_up(struct Annotation *annotation, const struct Listing *listing)
{
    annotation->samples = NAN;
    annotation->most_cycles = annotation->least_cycles = NAN;
    for (size_t i = 0; i < listing->row_count; i++) {
        const struct ListingRow *row = &listing->rows[i];
        annotation->samples =
            Row_sum(annotation->samples, Row_u64(row->samples));
        annotation->most_cycles = fmax(annotation->most_cycles, row->cycles);
        annotation->least_cycles = fmin(annotation->least_cycles, row->cycles);
    }
}

// Returns the largest possible number of entries. There may be a row and its
// source line for each instruction, the lines between two rows, and a note at
// each end.
static size_t room_for(const struct Listing *listing)
{
    return 2 + listing->row_count * (2 + GAP_MOST + 1);
}

int Annotation_make(struct Annotation *annotation,
                    const struct Listing *listing, const struct Source *source)
{
    struct Place *places = make_places(listing);
    *annotation = (struct Annotation){0};
    annotation->entries =
        malloc(room_for(listing) * sizeof *annotation->entries);
    annotation->labels =
        calloc(listing->row_count + 1, sizeof *annotation->labels);
    if (!places || !annotation->entries || !annotation->labels) {
        free(places);
        Annotation_release(annotation);
        return -ENOMEM;
    }
    sum_up(annotation, listing);
    number_labels(annotation, listing);
    if (source->state != SOURCE_FINE || *source->why)
        add(annotation, ENTRY_NOTE);
    if (source->state == SOURCE_FINE) {
        qsort(places, listing->row_count, sizeof *places, compare_places);
        interleave(annotation, listing, places);
    } else {
        list_code(annotation, listing);
    }
    if (listing->instructions != NULL_U64 &&
        listing->instructions > listing->row_count)
        add(annotation, ENTRY_MORE)->count =
            listing->instructions - listing->row_count;
    free(places);
    return 0;
}

void Annotation_release(struct Annotation *annotation)
{
    free(annotation->entries);
    free(annotation->labels);
    *annotation = (struct Annotation){0};
}

size_t Annotation_entry(const struct Annotation *annotation, size_t row)
{
    for (size_t i = 0; i < annotation->count; i++)
        if (annotation->entries[i].kind == ENTRY_CODE &&
            annotation->entries[i].row == row)
            return i;
    return 0;
}
