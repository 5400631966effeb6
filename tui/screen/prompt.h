// SPDX-License-Identifier: MIT
// A prompt is either a line of text that the user types at the bottom of the
// screen, or a question that the user answers by y or n. prompt.c only edits
// the text. Other files act on it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMPT_MAX 512

enum PromptKind {
    PROMPT_NONE, // No prompt is open.
    PROMPT_SEARCH,
    PROMPT_FILTER,
    PROMPT_EXPORT,
    PROMPT_SAVE,
    PROMPT_BUDGET,
    PROMPT_FROM, // Beginning and end of the shown part of a run.
    PROMPT_TO,
    // The next two kinds are questions that the user answers by y or n.
    PROMPT_OVERWRITE_EXPORT,
    PROMPT_OVERWRITE_SAVE
};

enum PromptResult { PROMPT_EDITING, PROMPT_DONE, PROMPT_CANCELLED };

struct Prompt {
    enum PromptKind kind;
    char text[PROMPT_MAX]; // The typed text, or the path in the question.
    size_t length;
};

void Prompt_open(struct Prompt *prompt, enum PromptKind kind, const char *text);
void Prompt_close(struct Prompt *prompt);
bool Prompt_is_question(const struct Prompt *prompt);
enum PromptResult Prompt_key(struct Prompt *prompt, uint32_t key);
