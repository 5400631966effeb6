// SPDX-License-Identifier: MIT
#include "formats/native_rows.h"

#ifdef OCULAR_LIBDW
#include "formats/elfutils.h"
#include "formats/native_file.h"
#include "ipc/base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RBP 6 // Number of the register rbp in DWARF.
#define RSP 7
#define RETURN_ADDRESS 16
// A file with more than MOST_ROWS rows gets no rows at all.
#define MOST_ROWS (8u << 20)

// The rows of a file while NativeRows_read collects them.
struct Maker {
    struct NativeFile *file;
    struct NativeRows *rows;
    Dwarf_CFI *cfi;
    size_t room;
    bool failed; // True if memory is out or there are too many rows.
};

// Returns true if the caller does not want the rows any more. A large library
// takes a fifth of a second, for which the end of tracing must not wait.
static bool must_end(const struct Maker *maker)
{
    const _Atomic bool *ends = maker->rows->ends;

    // This load pairs with the store in Sampler_pause.
    return ends && atomic_load_explicit(ends, memory_order_relaxed);
}

static void add_row(struct Maker *maker, uint64_t at, struct NativeRow row)
{
    struct NativeRows *rows = maker->rows;

    row.at = (uint32_t)at;
    if (rows->count < MOST_ROWS &&
        ARRAY_GROW(rows->rows, rows->count, maker->room, 1024))
        rows->rows[rows->count++] = row;
    else
        maker->failed = true;
}

// --- One row -----------------------------------------------------------------

// Returns the register of an operation "register + offset" and sets *offset, or
// returns -1 for another operation.
static int register_of(const Dwarf_Op *op, int64_t *offset)
{
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *offset = (int64_t)op->number;
        return op->atom - DW_OP_breg0;
    }
    *offset = (int64_t)op->number2;
    return op->atom == DW_OP_bregx ? (int)op->number : -1;
}

static void set_cfa(struct NativeRow *row, Dwarf_Frame *frame)
{
    Dwarf_Op *ops;
    size_t count;
    int64_t offset = 0;
    int base;

    row->rule = NATIVE_NO_RULE;
    if (elfutils.dwarf_frame_cfa(frame, &ops, &count) || !count)
        return;
    base = register_of(&ops[0], &offset);
    if (offset != (int32_t)offset)
        return;
    row->cfa = (int32_t)offset;
    if (count == 1 && base == RSP)
        row->rule = NATIVE_BY_RSP;
    else if (count == 1 && base == RBP)
        row->rule = NATIVE_BY_RBP;
    else if (count == 2 && base == RBP && ops[1].atom == DW_OP_deref)
        // In this function, gcc has aligned the stack pointer.
        row->rule = NATIVE_BY_WORD;
    else if (count > 4 && base == RSP && offset == 8)
        row->rule = NATIVE_BY_PLT, row->flags |= NATIVE_FOLDED;
}

static void set_rbp(struct NativeRow *row, Dwarf_Frame *frame)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    int64_t offset = 0;

    row->rbp = NATIVE_SAME;
    if (elfutils.dwarf_frame_register(frame, RBP, memory, &ops, &count) ||
        !count)
        return;
    if (ops[0].atom == DW_OP_call_frame_cfa && count <= 2)
        offset = count == 2 ? (int64_t)ops[1].number : 0;
    else if (count == 1 && register_of(&ops[0], &offset) == RBP)
        row->flags |= NATIVE_RBP_BY_RBP;
    else
        return;
    if (offset > INT16_MIN && offset <= INT16_MAX)
        row->rbp = (int16_t)offset;
    else
        row->rule = NATIVE_NO_RULE;
}

static struct NativeRow row_of(Dwarf_Frame *frame)
{
    struct NativeRow row = {0};
    Dwarf_Op memory[3], *ops;
    size_t count;

    set_cfa(&row, frame);
    set_rbp(&row, frame);
    if (!elfutils.dwarf_frame_register(frame, RETURN_ADDRESS, memory, &ops,
                                       &count) &&
        !count && ops == memory)
        row.rule = NATIVE_OUTERMOST;
    return row;
}

// --- All rows ----------------------------------------------------------------

static bool is_like(const struct NativeRow *a, const struct NativeRow *b)
{
    return a->rule == b->rule && a->cfa == b->cfa && a->rbp == b->rbp &&
           a->flags == (b->flags & ~NATIVE_FIRST);
}

static void add_function(struct Maker *maker, uint64_t from, uint64_t to)
{
    struct NativeRow last = {.rule = NATIVE_NO_RULE, .rbp = NATIVE_SAME};
    uint64_t at = from;

    while (at < to && to - from < UINT32_MAX) {
        Dwarf_Addr start, end = to;
        Dwarf_Frame *frame;
        struct NativeRow row;

        if (elfutils.dwarf_cfi_addrframe(maker->cfi, at, &frame))
            break;
        elfutils.dwarf_frame_info(frame, &start, &end, NULL);
        row = row_of(frame);
        free(frame);
        if (at == from)
            row.flags |= NATIVE_FIRST;
        if (at == from || !is_like(&row, &last))
            add_row(maker, at, row);
        last = row;
        last.flags &= (uint8_t)~NATIVE_FIRST;
        if (end <= at)
            break;
        at = end;
    }
    add_row(maker, at,
            (struct NativeRow){.rule = NATIVE_NO_RULE,
                               .rbp = NATIVE_SAME,
                               .flags = NATIVE_FIRST});
}

// Adds the rows of all functions with call frame information. An entry of
// .eh_frame for functions has the function's address relative to the entry
// itself, and the function's size, both as 32-bit numbers.
static int add_functions(struct Maker *maker)
{
    struct NativeSection section;
    const uint8_t *ident = NativeFile_ident(maker->file);
    Dwarf_Off at = 0, next = 0;
    Dwarf_CFI_Entry entry;
    int found;

    if (!NativeFile_section(maker->file, ".eh_frame", &section))
        return 0;
    maker->cfi = NativeFile_cfi(maker->file);
    while (maker->cfi && !maker->failed && !must_end(maker) &&
           (found = elfutils.dwarf_next_cfi(ident, section.data, true, at,
                                            &next, &entry)) <= 0 &&
           next > at) {
        const uint8_t *start = entry.fde.start;
        uint32_t size;
        int32_t relative;

        at = next;
        if (found || dwarf_cfi_cie_p(&entry) || entry.fde.end - start < 8)
            continue;
        memcpy(&relative, start, sizeof relative);
        memcpy(&size, start + sizeof relative, sizeof size);
        uint64_t from = section.address + (uint64_t)(start - section.bytes) +
                        (uint64_t)(int64_t)relative;
        if (from < UINT32_MAX - size)
            add_function(maker, from, from + size);
    }
    return maker->failed ? -ENOMEM : 0;
}

static bool is_known(const struct NativeRow *row)
{
    return row->rule != NATIVE_NO_RULE;
}

// A function's first row comes after the end row of the function before it.
static int by_address(const void *a, const void *b)
{
    const struct NativeRow *one = a, *other = b;
    int order = (one->at > other->at) - (one->at < other->at);

    return order ? order : is_known(one) - is_known(other);
}

static void sort(struct NativeRows *rows)
{
    size_t kept = 0;

    qsort(rows->rows, rows->count, sizeof *rows->rows, by_address);
    for (size_t i = 0; i < rows->count; i++) {
        if (kept && rows->rows[kept - 1].at == rows->rows[i].at)
            kept--;
        rows->rows[kept++] = rows->rows[i];
    }
    rows->count = kept;
}

// Returns the index of the first of `count` rows whose address is above `at`.
static size_t row_after(const struct NativeRows *rows, size_t count,
                        uint64_t at)
{
    return ARRAY_BOUND(count, rows->rows[middle].at <= at);
}

// Returns the flag for a function of CPython with this name. A function has a
// flag if it evaluates bytecode or only passes on a call.
static uint8_t flag_of(const char *name)
{
    static const struct {
        const char *prefix;
        uint8_t flag;
    } kinds[] = {{"_PyEval_EvalFrameDefault", NATIVE_EVAL},
                 {"_TAIL_CALL_", NATIVE_EVAL}, // CPython 3.14
                 {"_Py_VectorCall", NATIVE_FOLDED},
                 {"_Py_BuiltinCall", NATIVE_FOLDED},
                 {"PyObject_Vectorcall", NATIVE_FOLDED},
                 {"PyObject_Call", NATIVE_FOLDED},
                 {"_PyObject_Call", NATIVE_FOLDED},
                 {"_PyObject_MakeTpCall", NATIVE_FOLDED},
                 {"_PyObject_Vectorcall", NATIVE_FOLDED},
                 {"_PyVectorcall_Call", NATIVE_FOLDED},
                 {"PyVectorcall_Call", NATIVE_FOLDED},
                 {"_PyFunction_Vectorcall", NATIVE_FOLDED},
                 {"cfunction_vectorcall_", NATIVE_FOLDED},
                 {"method_vectorcall", NATIVE_FOLDED}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return kinds[i].flag;
    return 0;
}

// Sets the flag `flag` in all rows of a function.
static void mark(struct NativeRows *rows, size_t known,
                 const struct NativeSymbol *symbol, uint8_t flag)
{
    size_t at = row_after(rows, known, symbol->at);

    for (at -= at > 0; at < known; at++) {
        if (rows->rows[at].at >= symbol->at + symbol->size)
            break;
        if (rows->rows[at].at >= symbol->at)
            rows->rows[at].flags |= flag;
    }
}

// Marks the rows of the function that contains `target`, if these rows belong
// to a part of another function. A whole function has its caller's address at
// rsp + 8 at the beginning, but a part has not.
static void mark_part(struct NativeRows *rows, size_t known, uint64_t target)
{
    size_t at = row_after(rows, known, target), first;

    while (at && !(rows->rows[at - 1].flags & NATIVE_FIRST))
        at--;
    if (!at)
        return;
    first = at - 1;
    if (!is_known(&rows->rows[first]) ||
        (rows->rows[first].rule == NATIVE_BY_RSP && rows->rows[first].cfa == 8))
        return;
    do {
        rows->rows[first].flags |= NATIVE_EVAL;
    } while (++first < known && !(rows->rows[first].flags & NATIVE_FIRST));
}

// gcc splits the evaluation loop into parts if it is given a profile. In a
// stripped file only one part has a symbol. The other parts of the evaluation
// loop are the targets of that part's jumps.
static void mark_parts(struct Maker *maker, size_t known,
                       const struct NativeSymbol *symbol)
{
    struct NativeSection text;
    size_t at, end;

    if (!NativeFile_section(maker->file, ".text", &text) ||
        symbol->at < text.address || symbol->at - text.address > text.size)
        return;
    at = (size_t)(symbol->at - text.address);
    end = symbol->size < text.size - at ? at + (size_t)symbol->size : text.size;
    for (; at + 6 <= end; at++) {
        const uint8_t *code = text.bytes + at;
        size_t size = code[0] == 0xE9                               ? 1
                      : code[0] == 0x0F && (code[1] & 0xF0) == 0x80 ? 2
                                                                    : 0;
        int32_t relative;
        uint64_t target;

        if (!size)
            continue;
        memcpy(&relative, code + size, sizeof relative);
        target = text.address + at + size + sizeof relative +
                 (uint64_t)(int64_t)relative;
        if (target - symbol->at >= symbol->size &&
            target - text.address < text.size)
            mark_part(maker->rows, known, target);
    }
}

// Marks the rows of CPython's own functions. Adds a row for each function
// without call frame information, so that its addresses are not taken for a
// part of the function before it.
static int use_symbols(struct Maker *maker)
{
    struct NativeRows *rows = maker->rows;
    struct NativeSymbols symbols;
    size_t known = rows->count;

    NativeFile_symbols(maker->file, &symbols);
    for (size_t i = 0; i < symbols.count; i++) {
        const struct NativeSymbol *symbol = &symbols.list[i];
        size_t at = row_after(rows, known, symbol->at);
        const struct NativeRow *row = at ? &rows->rows[at - 1] : NULL;

        uint8_t flag = flag_of(symbol->name);

        if (flag)
            mark(rows, known, symbol, flag);
        if (flag == NATIVE_EVAL)
            mark_parts(maker, known, symbol);
        if (!flag && symbol->at < UINT32_MAX &&
            (!row || (!is_known(row) && row->at != symbol->at)))
            add_row(maker, symbol->at,
                    (struct NativeRow){.rule = NATIVE_NO_RULE,
                                       .rbp = NATIVE_SAME,
                                       .flags = NATIVE_FIRST});
    }
    NativeSymbols_release(&symbols);
    return maker->failed ? -ENOMEM : 0;
}

int NativeRows_read(const char *path, uint64_t inode, uint64_t offset,
                    struct NativeRows *rows)
{
    struct NativeFile file;
    struct Maker maker = {.file = &file, .rows = rows};
    int error = NativeFile_open(&file, NativeFile_descriptor(path), inode);

    *rows = (struct NativeRows){.ends = rows->ends};
    if (error)
        return error;
    if (!NativeFile_address(&file, offset, &rows->address))
        error = -ENODATA;
    NativeFile_build(&file, rows->build);
    if (!error)
        error = add_functions(&maker);
    if (!error && must_end(&maker))
        error = -ECANCELED;
    if (!error)
        sort(rows);
    if (!error)
        error = use_symbols(&maker);
    if (!error)
        sort(rows);
    if (error) {
        Heap_free(rows->rows);
        rows->rows = NULL;
        rows->count = 0;
    }
    NativeFile_close(&file);
    return error;
}
#endif
