// SPDX-License-Identifier: MIT
#include "tracer/session/operand_text.h"
#include "ipc/base/heap.h"

#include <string.h>

struct OperandText *OperandText_new(uint32_t id)
{
    struct OperandText *operands = Heap_zeroed(1, sizeof *operands);

    if (operands)
        operands->id = id;
    return operands;
}

void OperandText_free(struct OperandText *operands)
{
    unsigned i;

    for (i = 0; operands && i < TEXT_KINDS; i++) {
        Bytes_release(&operands->lists[i].text);
        Bytes_release(&operands->lists[i].start);
    }
    Heap_free(operands);
}

int OperandText_add(struct OperandText *operands, enum OperandTextKind kind,
                    const char *text)
{
    struct TextList *list = &operands->lists[kind];
    uint32_t start = (uint32_t)list->text.size;

    Bytes_put(&list->text, text, strlen(text) + 1);
    Bytes_put(&list->start, &start, sizeof start);
    if (list->text.error || list->start.error)
        return list->text.error | list->start.error;
    list->count++;
    return 0;
}

const char *OperandText_get(const struct OperandText *operands,
                            enum OperandTextKind kind, uint32_t index)
{
    const struct TextList *list = &operands->lists[kind];
    uint32_t start;

    if (index >= list->count)
        return NULL;
    memcpy(&start, list->start.data + index * sizeof start, sizeof start);
    return (const char *)list->text.data + start;
}
