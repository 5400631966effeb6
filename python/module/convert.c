// SPDX-License-Identifier: MIT
#include "python/module/convert.h"

static PyObject *from_list(const struct Field *field, const char *base)
{
    const char *elements = *(const char *const *)(base + field->offset);
    size_t count = *(const size_t *)(base + field->count_offset);
    PyObject *list;
    size_t i;

    if (field->optional)
        return count ? Convert_record(field->record, elements)
                     : Py_NewRef(Py_None);
    list = PyList_New((Py_ssize_t)count);

    for (i = 0; list && i < count; i++) {
        PyObject *element =
            Convert_record(field->record, elements + i * field->record->size);

        if (!element)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, element);
    }
    return list;
}

static PyObject *from_text(const char *text)
{
    if (!text)
        return Py_NewRef(Py_None);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *from_field(const struct Field *field, const char *base)
{
    const void *at = base + field->offset;
    uint64_t number;
    double real;

    switch (field->type) {
    case FIELD_BOOL:
        number = *(const uint64_t *)at;
        return number == NULL_U64 ? Py_NewRef(Py_None)
                                  : PyBool_FromLong(number != 0);
    case FIELD_U64:
        number = *(const uint64_t *)at;
        return number == NULL_U64 ? Py_NewRef(Py_None)
                                  : PyLong_FromUnsignedLongLong(number);
    case FIELD_F64:
        real = *(const double *)at;
        return isnan(real) ? Py_NewRef(Py_None) : PyFloat_FromDouble(real);
    case FIELD_TEXT:
        return from_text(*(const char *const *)at);
    case FIELD_STATE:
        return from_text(State_name(*(const uint64_t *)at));
    case FIELD_LIST:
        return from_list(field, base);
    }
    return Py_NewRef(Py_None);
}

// Returns the dict that contains a field, as a borrowed reference. A field of a
// group is in the dict of the group, within the record's dict.
static PyObject *home_of(PyObject *dict, const struct Field *field)
{
    PyObject *group;

    if (!field->group)
        return dict;
    group = PyDict_GetItemString(dict, field->group);
    if (group)
        return group;
    group = PyDict_New();
    if (group && PyDict_SetItemString(dict, field->group, group) < 0)
        Py_CLEAR(group);
    Py_XDECREF(group); // `dict` holds a reference to `group`
    return group;
}

PyObject *Convert_record(const struct Record *record, const void *base)
{
    PyObject *dict = PyDict_New();
    size_t i;

    for (i = 0; dict && i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        PyObject *home = home_of(dict, field);
        PyObject *value = home ? from_field(field, base) : NULL;

        if (!value || PyDict_SetItemString(home, field->name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *Convert_snapshot(const struct Snapshot *snapshot)
{
    return Convert_record(&SNAPSHOT_RECORD, (const char *)snapshot);
}

PyObject *Convert_published(const struct Snapshot *snapshot)
{
    struct Snapshot whole = {0};
    PyObject *dict = RowSet_whole(snapshot, &whole) == 0
                         ? Convert_snapshot(&whole)
                         : PyErr_NoMemory();

    Arena_release(&whole.arena);
    return dict;
}

static PyObject *from_row(const struct ListingDetailRow *row,
                          const struct ListingDetail *detail,
                          const struct Opcodes *opcodes)
{
    bool known = row->hits || row->exact;

    return Py_BuildValue(
        "{sIsNsssssIsNsNsNsNsNsNsK}", "offset", row->offset, "line",
        row->line ? PyLong_FromUnsignedLong(row->line) : Py_NewRef(Py_None),
        "opcode", opcodes->name[row->opcode], "live", opcodes->name[row->live],
        "argument", row->argument, "site", PyBool_FromLong(row->site), "dark",
        PyBool_FromLong(row->dark), "hits",
        known ? PyLong_FromUnsignedLongLong(row->hits) : Py_NewRef(Py_None),
        "exact", PyBool_FromLong(row->exact), "cycles",
        isnan(row->cycles) ? Py_NewRef(Py_None)
                           : PyFloat_FromDouble(row->cycles),
        "generic", PyBool_FromLong(detail->precise), "samples",
        (unsigned long long)row->samples);
}

PyObject *Convert_detail(const struct ListingDetail *detail,
                         const struct Opcodes *opcodes)
{
    PyObject *list = PyList_New((Py_ssize_t)detail->row_count);
    size_t i;

    for (i = 0; list && i < detail->row_count; i++) {
        PyObject *row = from_row(&detail->rows[i], detail, opcodes);

        if (!row)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, row);
    }
    return list;
}
