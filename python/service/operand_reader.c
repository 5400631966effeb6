// SPDX-License-Identifier: MIT
// The text of a constant is its repr(), shortened. Only objects of exactly a
// built-in type are read, so that no code of the program runs.
#include "python/service/operand_reader.h"

#include <errno.h>
#include <string.h>

#define TEXT_MOST 80  // Most bytes of a name or a constant.
#define CHARS_MOST 40 // Most characters of a string constant.
#define ITEMS_MOST 8  // Number of items that are shown of a tuple.
#define DEPTH_MOST 3  // Number of levels that are shown of nested tuples.
#define AT_LEAST 32   // Operands that a call reads at least.
#define ELLIPSIS "\xe2\x80\xa6"

struct Writer {
    char text[TEXT_MOST + sizeof ELLIPSIS];
    size_t used;
    bool cut;
};

// Adds a text in UTF-8. If there is no room for all of it, the text ends here,
// with an ellipsis.
static void put_bytes(struct Writer *writer, const char *text, size_t size)
{
    size_t room = TEXT_MOST - writer->used;

    if (writer->cut)
        return;
    writer->cut = size > room;
    if (writer->cut)
        for (size = room; size && (text[size] & 0xc0) == 0x80;)
            size--;
    memcpy(writer->text + writer->used, text, size);
    writer->used += size;
    strcpy(writer->text + writer->used, writer->cut ? ELLIPSIS : "");
}

static void put(struct Writer *writer, const char *text)
{
    put_bytes(writer, text, strlen(text));
}

// Adds the repr() of a value without its first and last `quotes` characters. If
// `more` is true, adds an ellipsis before the last character.
static void put_repr(struct Writer *writer, PyObject *value, size_t quotes,
                     bool more)
{
    PyObject *text = PyObject_Repr(value);
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;

    if (!bytes) {
        put(writer, "?");
    } else {
        put_bytes(writer, bytes + quotes, strlen(bytes) - 2 * quotes - more);
        if (more) {
            put(writer, ELLIPSIS);
            put(writer, bytes + strlen(bytes) - 1);
        }
    }
    PyErr_Clear();
    Py_XDECREF(text);
}

static void put_name(struct Writer *writer, PyObject *name)
{
    PyObject *part = PyUnicode_Substring(name, 0, TEXT_MOST + 1);

    if (part)
        put_repr(writer, part, 1, false);
    PyErr_Clear();
    Py_XDECREF(part);
}

// Adds a str or bytes object.
static void put_text(struct Writer *writer, PyObject *text)
{
    bool more = PySequence_Size(text) > CHARS_MOST;
    PyObject *part = PySequence_GetSlice(text, 0, CHARS_MOST);

    if (part)
        put_repr(writer, part, 0, more);
    PyErr_Clear();
    Py_XDECREF(part);
}

static void put_long(struct Writer *writer, PyObject *number)
{
    int overflow;

    PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow)
        put(writer, overflow < 0 ? "<-2**63" ELLIPSIS : ">=2**63" ELLIPSIS);
    else
        put_repr(writer, number, 0, false);
}

static void put_value(struct Writer *writer, PyObject *value, int depth);

static void put_tuple(struct Writer *writer, PyObject *tuple, int depth)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple), i;

    put(writer, "(");
    for (i = 0; i < size && i < ITEMS_MOST && depth < DEPTH_MOST; i++) {
        if (i)
            put(writer, ", ");
        put_value(writer, PyTuple_GET_ITEM(tuple, i), depth + 1);
    }
    if (i < size)
        put(writer, i ? ", " ELLIPSIS : ELLIPSIS);
    put(writer, size == 1 && i ? ",)" : ")");
}

static void put_value(struct Writer *writer, PyObject *value, int depth)
{
    char text[TEXT_MOST];

    if (!value) {
        put(writer, "?");
    } else if (Py_IsNone(value) || PyBool_Check(value) ||
               value == Py_Ellipsis || PyFloat_CheckExact(value) ||
               PyComplex_CheckExact(value)) {
        put_repr(writer, value, 0, false);
    } else if (PyLong_CheckExact(value)) {
        put_long(writer, value);
    } else if (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)) {
        put_text(writer, value);
    } else if (PyTuple_CheckExact(value)) {
        put_tuple(writer, value, depth);
    } else if (PyFrozenSet_CheckExact(value)) {
        snprintf(text, sizeof text, "frozenset of %zd", PySet_GET_SIZE(value));
        put(writer, text);
    } else if (PyCode_Check(value)) {
        put(writer, "<code ");
        put_name(writer, ((PyCodeObject *)value)->co_name);
        put(writer, ">");
    } else {
        snprintf(text, sizeof text, "<%.60s>", Py_TYPE(value)->tp_name);
        put(writer, text);
    }
}

static int add(struct OperandText *operands, enum OperandTextKind kind,
               PyObject *value)
{
    struct Writer writer = {.used = 0};

    if (kind == TEXT_CONSTS || !PyUnicode_CheckExact(value))
        put_value(&writer, value, 0);
    else
        put_name(&writer, value);
    return OperandText_add(operands, kind, writer.text);
}

int OperandReader_read(struct OperandText *operands, const PyCodeObject *code,
                       const struct Clock *clock, uint64_t deadline)
{
    PyObject *const tuples[TEXT_KINDS] = {
        [TEXT_CONSTS] = code->co_consts,
        [TEXT_NAMES] = code->co_names,
        [TEXT_LOCALS] = code->co_localsplusnames,
    };
    unsigned kind, done = 0;

    for (kind = 0; kind < TEXT_KINDS; kind++) {
        while (operands->lists[kind].count <
               (size_t)PyTuple_GET_SIZE(tuples[kind])) {
            Py_ssize_t next = (Py_ssize_t)operands->lists[kind].count;

            if (add(operands, kind, PyTuple_GET_ITEM(tuples[kind], next)))
                return -ENOMEM;
            if (++done >= AT_LEAST && Clock_read(clock) >= deadline)
                return 0;
        }
    }
    return 1;
}
