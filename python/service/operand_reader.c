// SPDX-License-Identifier: MIT
// The text of a constant is its repr(), shortened. Only objects of exactly a
// built-in type are read, so that no code of the program runs.
#include "python/service/operand_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MOST 80  // Most bytes of a name or a constant.
#define CHARS_MOST 40 // Most characters of a string constant.
#define ITEMS_MOST 8  // Number of items that are shown of a tuple.
#define DEPTH_MOST 3  // Number of levels that are shown of nested tuples.
#define AT_LEAST 32   // Operands that a call reads at least.

struct Writer {
    char text[TEXT_MOST + 8];
    size_t used;
    bool cut;
};

static void put(struct Writer *writer, const char *text, size_t size)
{
    if (writer->cut)
        return;
    if (writer->used + size > TEXT_MOST) {
        writer->cut = true;
        text = "\xe2\x80\xa6"; // An ellipsis in UTF-8.
        size = 3;
    }
    memcpy(writer->text + writer->used, text, size);
    writer->used += size;
    writer->text[writer->used] = 0;
}

__attribute__((format(printf, 2, 3))) static void
put_format(struct Writer *writer, const char *format, ...)
{
    char text[TEXT_MOST];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(writer, text, strlen(text));
}

static void put_utf8(struct Writer *writer, Py_UCS4 code)
{
    char bytes[4];
    size_t size = 0;

    if (code < 0x800) {
        bytes[size++] = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[size++] = (char)(0xe0 | code >> 12);
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | code >> 18);
        bytes[size++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    bytes[size++] = (char)(0x80 | (code & 0x3f));
    put(writer, bytes, size);
}

static void put_char(struct Writer *writer, Py_UCS4 code, char quote)
{
    char plain = (char)code;

    if (code == (Py_UCS4)quote || (code == '\\' && quote))
        put_format(writer, "\\%c", plain);
    else if (code == '\n')
        put(writer, "\\n", 2);
    else if (code == '\t')
        put(writer, "\\t", 2);
    else if (code >= 0x20 && code < 0x7f)
        put(writer, &plain, 1);
    else if (code < 0x100 && !(code > 0xa0 && code != 0xad))
        put_format(writer, "\\x%02x", (unsigned)code);
    else if (Py_UNICODE_ISPRINTABLE(code))
        put_utf8(writer, code);
    else
        put_format(writer, code < 0x10000 ? "\\u%04x" : "\\U%08x",
                   (unsigned)code);
}

static void put_text(struct Writer *writer, PyObject *text, char quote)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), i;
    Py_ssize_t most = quote ? CHARS_MOST : TEXT_MOST;

    if (quote)
        put(writer, &quote, 1);
    for (i = 0; i < size && i < most && !writer->cut; i++)
        put_char(writer, PyUnicode_READ_CHAR(text, i), quote);
    if (i < size && !writer->cut)
        put(writer, "\xe2\x80\xa6", 3);
    if (quote)
        put(writer, &quote, 1);
}

static void put_bytes(struct Writer *writer, PyObject *bytes)
{
    Py_ssize_t size = PyBytes_GET_SIZE(bytes), i;

    put(writer, "b'", 2);
    for (i = 0; i < size && i < CHARS_MOST && !writer->cut; i++) {
        unsigned char byte = (unsigned char)PyBytes_AS_STRING(bytes)[i];

        if (byte < 0x7f)
            put_char(writer, byte, '\'');
        else
            put_format(writer, "\\x%02x", byte);
    }
    if (i < size && !writer->cut)
        put(writer, "\xe2\x80\xa6", 3);
    put(writer, "'", 1);
}

static void put_double(struct Writer *writer, double value)
{
    char *text = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);

    if (text)
        put(writer, text, strlen(text));
    else
        PyErr_Clear();
    PyMem_Free(text);
}

static void put_long(struct Writer *writer, PyObject *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);

    if (overflow)
        put_format(writer, "%s2**63…", overflow < 0 ? "<-" : ">=");
    else
        put_format(writer, "%lld", value);
}

static void put_value(struct Writer *writer, PyObject *value, int depth);

static void put_tuple(struct Writer *writer, PyObject *tuple, int depth)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple), i;

    put(writer, "(", 1);
    for (i = 0; i < size && i < ITEMS_MOST && depth < DEPTH_MOST; i++) {
        if (i)
            put(writer, ", ", 2);
        put_value(writer, PyTuple_GET_ITEM(tuple, i), depth + 1);
    }
    if (i < size)
        put(writer, i ? ", \xe2\x80\xa6" : "\xe2\x80\xa6", i ? 5 : 3);
    put(writer, size == 1 && i ? ",)" : ")", size == 1 && i ? 2 : 1);
}

static void put_complex(struct Writer *writer, PyObject *value)
{
    put_format(writer, "(%g%+gj)", PyComplex_RealAsDouble(value),
               PyComplex_ImagAsDouble(value));
}

static void put_value(struct Writer *writer, PyObject *value, int depth)
{
    if (!value)
        put(writer, "?", 1);
    else if (value == Py_None || value == Py_True || value == Py_False)
        put_format(writer, "%s",
                   value == Py_None   ? "None"
                   : value == Py_True ? "True"
                                      : "False");
    else if (value == Py_Ellipsis)
        put(writer, "...", 3);
    else if (PyLong_CheckExact(value))
        put_long(writer, value);
    else if (PyFloat_CheckExact(value))
        put_double(writer, PyFloat_AS_DOUBLE(value));
    else if (PyComplex_CheckExact(value))
        put_complex(writer, value);
    else if (PyUnicode_CheckExact(value))
        put_text(writer, value, '\'');
    else if (PyBytes_CheckExact(value))
        put_bytes(writer, value);
    else if (PyTuple_CheckExact(value))
        put_tuple(writer, value, depth);
    else if (PyFrozenSet_CheckExact(value))
        put_format(writer, "frozenset of %zd", PySet_GET_SIZE(value));
    else if (PyCode_Check(value)) {
        put(writer, "<code ", 6);
        put_text(writer, ((PyCodeObject *)value)->co_name, 0);
        put(writer, ">", 1);
    } else {
        put_format(writer, "<%.60s>", Py_TYPE(value)->tp_name);
    }
}

static int add(struct OperandText *operands, enum OperandTextKind kind,
               PyObject *value)
{
    struct Writer writer = {.used = 0};

    if (kind == TEXT_CONSTS || !PyUnicode_CheckExact(value))
        put_value(&writer, value, 0);
    else
        put_text(&writer, value, 0);
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
