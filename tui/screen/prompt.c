// SPDX-License-Identifier: MIT
#include "tui/screen/prompt.h"

#include "tui/screen/key.h"
#include "tui/text/text.h"

#include <string.h>

void Prompt_open(struct Prompt *prompt, enum PromptKind kind, const char *text)
{
    prompt->kind = kind;
    if (text != prompt->text)
        Text_clean(prompt->text, sizeof prompt->text, text);
    prompt->length = strlen(prompt->text);
}

void Prompt_close(struct Prompt *prompt)
{
    prompt->kind = PROMPT_NONE;
}

bool Prompt_is_question(const struct Prompt *prompt)
{
    return prompt->kind >= PROMPT_OVERWRITE_EXPORT;
}

static enum PromptResult answer(uint32_t key)
{
    if (key == 'y' || key == 'Y')
        return PROMPT_DONE;
    if (key == 'n' || key == 'N' || key == 'q' || key == PRESS_ESCAPE)
        return PROMPT_CANCELLED;
    return PROMPT_EDITING;
}

static void erase(struct Prompt *prompt)
{
    while (prompt->length) {
        char last = prompt->text[--prompt->length];
        prompt->text[prompt->length] = 0;
        if ((last & 0xC0) != 0x80)
            return;
    }
}

static void type(struct Prompt *prompt, uint32_t key)
{
    char bytes[4];
    if (key > 0x10FFFF || Utf8_is_harmful(key))
        return;
    size_t count = Text_encode(bytes, key);
    if (prompt->length + count >= sizeof prompt->text)
        return;
    memcpy(prompt->text + prompt->length, bytes, count);
    prompt->length += count;
    prompt->text[prompt->length] = 0;
}

enum PromptResult Prompt_key(struct Prompt *prompt, uint32_t key)
{
    if (Prompt_is_question(prompt))
        return answer(key);
    switch (key) {
    case PRESS_ENTER:
        return PROMPT_DONE;
    case PRESS_ESCAPE:
        return PROMPT_CANCELLED;
    case PRESS_BACKSPACE:
    case 8: // Ctrl-H
        erase(prompt);
        break;
    case 21: // Ctrl-U
        prompt->length = 0;
        prompt->text[0] = 0;
        break;
    default:
        type(prompt, key);
    }
    return PROMPT_EDITING;
}
