// SPDX-License-Identifier: MIT
// Combines the records of several processes into one record, field by field.
// The record's table says how the values of each field are combined (enum
// FoldHow). The functions are pure.
#pragma once

#include "ipc/record.h"

struct FoldPiece {
    const void *record;
    enum FoldAge age;
    double weight;
    double run;
    double silent_s;
};

// Returns the value of a field with a number, or NaN for null.
double Fold_value(const struct Field *field, const void *record);
// Combines the records of several processes into the record `out`. Fields with
// FOLD_OWN are not set. Texts in `out` are borrowed from the pieces.
void Fold_make(const struct Record *record, void *out,
               const struct FoldPiece *pieces, size_t count);
