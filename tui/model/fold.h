// SPDX-License-Identifier: MIT
// Combines the records of several processes into one record, field by field. A
// table of rules says how the values of each field are combined. merge.c has
// the tables. The functions are pure.
#pragma once

#include "ipc/record.h"

// State of the process from which a record comes. The numbers of a process that
// has ended are the oldest, and those of a live process are the newest.
enum FoldAge { FOLD_ENDED, FOLD_SILENT, FOLD_LIVE };

// enum FoldHow says how the values of a field are combined into one value. Null
// values are left out. If all values are null, the result is null.
enum FoldHow {
    FOLD_NONE,  // The result of the fold is null.
    FOLD_OWN,   // merge.c sets the field by itself.
    FOLD_FIRST, // The first value.
    FOLD_SAME,  // The value, if all records have the same value.
    FOLD_SUM,
    FOLD_LEAST,
    FOLD_MOST,
    FOLD_ALL,    // True if no bool of the values is false.
    FOLD_ANY,    // True if a bool of the values is true.
    FOLD_MEAN,   // Mean, weighted by FoldPiece.weight.
    FOLD_MEDIAN, // Weighted median (the lower one of two middle values).
    FOLD_ROOT,   // Root of the sum of squares, for standard deviations.
    FOLD_RUN,    // Sum of values times FoldPiece.run.
    FOLD_AGED    // The largest value, each plus its FoldPiece.silent_s.
};

struct FoldRule {
    const char *group; // the field's group, or NULL (struct Field)
    const char *name;
    enum FoldHow how;
    enum FoldAge from; // records with a lower FoldAge are left out
};

struct FoldPiece {
    const void *record;
    enum FoldAge age;
    double weight;
    double run;
    double silent_s;
};

#define FOLD_FIELDS 96 // maximum number of fields of a record

struct FoldPlan { // the rules in the order of the record's fields
    const struct Record *record;
    const struct FoldRule *rules[FOLD_FIELDS]; // NULL if the field has no rule
};

// Finds the rule of each field of `record`. The last element of `rules` has no
// name.
void FoldPlan_make(struct FoldPlan *plan, const struct Record *record,
                   const struct FoldRule *rules);
// Combines the records of several processes into the record `out`. Does not set
// the fields with FOLD_OWN. Texts are borrowed from the pieces.
void Fold_make(const struct FoldPlan *plan, void *out,
               const struct FoldPiece *pieces, size_t count);
