// SPDX-License-Identifier: MIT
#include "tui/views/instruction_text.h"

#include "tui/model/annotate_state.h"
#include "tui/model/row.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

#include <stdio.h>
#include <string.h>

void InstructionText_operand(char *out, size_t size,
                             const struct AnnotateState *state,
                             const struct ListingRow *row)
{
    size_t target = LISTING_ROWS;
    char words[160], callee[160];
    *out = 0;
    if (row->target != NULL_U64)
        target = Annotation_row(state->listing, row->target);
    if (target < state->listing->row_count)
        snprintf(out, size, "to L%u", state->annotation.labels[target]);
    else if (row->words && Text_clean(words, sizeof words, row->words))
        snprintf(out, size, "%s", words);
    else if (row->argument != NULL_U64)
        snprintf(out, size, "%llu", (unsigned long long)row->argument);
    if (row->taken != NULL_U64 && row->hits != NULL_U64 && row->hits) {
        size_t end = strlen(out);
        snprintf(out + end, size - end, "  taken %s",
                 Number_percent(words, (double)row->taken / (double)row->hits));
    }
    if (!row->callee)
        return;
    Text_clean(callee, sizeof callee, row->callee);
    double all = state->annotation.samples;
    double in_c = all > 0 ? Row_u64(row->c_samples) / all : NAN;
    size_t used = strlen(out);
    if (in_c >= INSTRUCTION_LEAST_SHARE)
        snprintf(out + used, size - used, "  %.0f%% in C: %s", in_c * 100,
                 callee);
    else
        snprintf(out + used, size - used, "  %s", callee);
}

void InstructionText_never(char *out, size_t size, const struct ListingRow *row)
{
    char number[NUMBER_MAX];
    *out = 0;
    if (row->was_specialized == 1)
        snprintf(out, size, "(deoptimised)");
    else if (row->hits == 0 && row->hits_exact == 1)
        snprintf(out, size, "(never ran)");
    else if (row->specializable == 1 && row->hits != NULL_U64 && row->hits)
        snprintf(out, size, "(never specialised after %s%s)",
                 row->hits_exact == 1 ? "" : ">=",
                 Number_count(number, (double)row->hits));
    else if (row->specializable == 1)
        snprintf(out, size, "(never specialised)");
}

enum Style InstructionText_short(char *out, size_t size,
                                 const struct ListingRow *row)
{
    size_t length = row->opcode ? strlen(row->opcode) : 0;
    const char *live = row->live;
    *out = 0;
    if (live && length && !strncmp(live, row->opcode, length) &&
        live[length] == '_')
        live += length + 1;
    if (live)
        snprintf(out, size, "-> %.100s", live);
    else if (row->was_specialized == 1)
        snprintf(out, size, "-> deopt!");
    else if (row->specializable == 1 && row->hits != NULL_U64 && row->hits)
        snprintf(out, size, "-> never");
    return live                        ? STYLE_ARMED
           : row->was_specialized == 1 ? STYLE_ALERT
                                       : STYLE_FAINT;
}
