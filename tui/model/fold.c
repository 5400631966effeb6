// SPDX-License-Identifier: MIT
#include "tui/model/fold.h"

#include <stdbool.h>
#include <string.h>

#define VALUES 256 // Largest number of values from which a median is computed.

struct Value {
    double value;
    double weight;
};

struct Sums { // Sums over the values that are not null.
    double sum, least, most, first, squares, run, aged;
    double weighed, weight; // Sum of value times weight, and sum of weights.
    bool same;
    size_t count;
    // Array of VALUES elements, or NULL if no median is needed.
    struct Value *values;
};

static const void *at(const struct Field *field, const void *record)
{
    return (const char *)record + field->offset;
}

double Fold_value(const struct Field *field, const void *record)
{
    if (field->type == FIELD_F64)
        return *(const double *)at(field, record);
    uint64_t whole = *(const uint64_t *)at(field, record);
    return whole == NULL_U64 ? NAN : (double)whole;
}

static void set_whole(const struct Field *field, void *out, uint64_t value)
{
    memcpy((char *)out + field->offset, &value, sizeof value);
}

static void set(const struct Field *field, void *out, double value)
{
    if (field->type == FIELD_F64)
        memcpy((char *)out + field->offset, &value, sizeof value);
    else
        set_whole(field, out, isnan(value) ? NULL_U64 : (uint64_t)value);
}

static void add(struct Sums *sums, double value, const struct FoldPiece *piece)
{
    if (!sums->count++)
        *sums = (struct Sums){.first = value,
                              .least = value,
                              .most = value,
                              .aged = value + piece->silent_s,
                              .same = true,
                              .count = 1,
                              .values = sums->values};
    sums->sum += value;
    sums->squares += value * value;
    sums->least = fmin(sums->least, value);
    sums->most = fmax(sums->most, value);
    sums->aged = fmax(sums->aged, value + piece->silent_s);
    sums->run += value * piece->run;
    sums->same &= value == sums->first;
    if (piece->weight > 0) {
        sums->weighed += value * piece->weight;
        sums->weight += piece->weight;
    }
    if (sums->values && sums->count <= VALUES)
        sums->values[sums->count - 1] = (struct Value){value, piece->weight};
}

// Returns the weighted median. Smaller values have half of the weight of all
// values, and larger values have the other half.
static double middle(struct Sums *sums)
{
    size_t count = sums->count < VALUES ? sums->count : VALUES;
    struct Value *values = sums->values;
    double half = 0, below = 0;
    for (size_t i = 0; i < count; i++) {
        struct Value value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1].value > value.value; k--)
            values[k] = values[k - 1];
        values[k] = value;
        half += value.weight > 0 ? value.weight / 2 : 0;
    }
    if (!(half > 0))
        return values[(count - 1) / 2].value;
    for (size_t i = 0; i < count; i++) {
        below += values[i].weight > 0 ? values[i].weight : 0;
        if (below >= half)
            return values[i].value;
    }
    return values[count - 1].value;
}

static double result(struct Sums *sums, enum FoldHow how)
{
    switch (how) {
    case FOLD_KEY:
    case FOLD_FIRST:
        return sums->first;
    case FOLD_SAME:
        return sums->same ? sums->first : NAN;
    case FOLD_SUM:
        return sums->sum;
    case FOLD_LEAST:
    case FOLD_ALL:
        return sums->least;
    case FOLD_MOST:
    case FOLD_ANY:
        return sums->most;
    case FOLD_MEAN:
        return sums->weight > 0 ? sums->weighed / sums->weight
                                : sums->sum / (double)sums->count;
    case FOLD_MEDIAN:
        return middle(sums);
    case FOLD_ROOT:
        return sqrt(sums->squares);
    case FOLD_RUN:
        return sums->run;
    case FOLD_AGED:
        return sums->aged;
    default:
        return NAN;
    }
}

static void fold_text(const struct Field *field, void *out,
                      const struct FoldPiece *pieces, size_t count)
{
    const char *first = NULL;
    bool same = true;
    for (size_t i = 0; field->how && i < count; i++) {
        const char *text = *(const char *const *)at(field, pieces[i].record);
        if (pieces[i].age < field->from || !text)
            continue;
        same &= !first || strcmp(first, text) == 0;
        first = first ? first : text;
    }
    if (field->how == FOLD_SAME && !same)
        first = NULL;
    memcpy((char *)out + field->offset, &first, sizeof first);
}

static void fold_number(const struct Field *field, void *out,
                        const struct FoldPiece *pieces, size_t count)
{
    struct Value values[VALUES];
    bool median = field->how == FOLD_MEDIAN;
    bool counts = field->type == FIELD_U64 && field->how == FOLD_SUM;
    struct Sums sums = {.count = 0, .values = median ? values : NULL};
    uint64_t whole = 0;
    for (size_t i = 0; field->how && i < count; i++) {
        double value = Fold_value(field, pieces[i].record);
        if (pieces[i].age < field->from || isnan(value))
            continue;
        if (counts)
            whole += *(const uint64_t *)at(field, pieces[i].record);
        add(&sums, value, &pieces[i]);
    }
    if (counts && sums.count) // A double would lose digits of a large count.
        set_whole(field, out, whole);
    else
        set(field, out, sums.count ? result(&sums, field->how) : NAN);
}

void Fold_make(const struct Record *record, void *out,
               const struct FoldPiece *pieces, size_t count)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        if (field->how == FOLD_OWN || field->how == FOLD_ID ||
            field->type == FIELD_LIST)
            continue;
        if (field->type == FIELD_TEXT)
            fold_text(field, out, pieces, count);
        else
            fold_number(field, out, pieces, count);
    }
}
