// SPDX-License-Identifier: MIT
// See words.h.
#include "tracer/session/words.h"
#include "ipc/base/heap.h"

#include <string.h>

struct Words *Words_new(uint32_t id)
{
    struct Words *words = Heap_zeroed(1, sizeof *words);

    if (words)
        words->id = id;
    return words;
}

void Words_free(struct Words *words)
{
    unsigned i;

    for (i = 0; words && i < WORDS_KINDS; i++) {
        Bytes_release(&words->lists[i].text);
        Bytes_release(&words->lists[i].start);
    }
    Heap_free(words);
}

size_t Words_bytes(const struct Words *words)
{
    size_t bytes = sizeof *words;
    unsigned i;

    for (i = 0; i < WORDS_KINDS; i++)
        bytes += words->lists[i].text.capacity + words->lists[i].start.capacity;
    return bytes;
}

int Words_add(struct Words *words, enum WordsKind kind, const char *text)
{
    struct WordList *list = &words->lists[kind];
    uint32_t start = (uint32_t)list->text.size;

    Bytes_put(&list->text, text, strlen(text) + 1);
    Bytes_put(&list->start, &start, sizeof start);
    if (list->text.error || list->start.error)
        return list->text.error | list->start.error;
    list->count++;
    return 0;
}

const char *Words_get(const struct Words *words, enum WordsKind kind,
                      uint32_t index)
{
    const struct WordList *list = &words->lists[kind];
    uint32_t start;

    if (index >= list->count)
        return NULL;
    memcpy(&start, list->start.data + index * sizeof start, sizeof start);
    return (const char *)list->text.data + start;
}
