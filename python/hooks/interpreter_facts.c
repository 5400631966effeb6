// SPDX-License-Identifier: MIT
#include "python/hooks/interpreter_facts.h"
#include "python/hooks/frame_stack.h"

#include <stddef.h>

static int read_row(struct Opcodes *opcodes, PyObject *row)
{
    unsigned char number, base, caches;
    unsigned short flags;
    const char *name;

    if (!PyArg_ParseTuple(row, "bsbbH", &number, &name, &base, &caches, &flags))
        return -1;
    snprintf(opcodes->name[number], sizeof opcodes->name[number], "%s", name);
    opcodes->base[number] = base;
    opcodes->caches[number] = caches;
    opcodes->flags[number] = flags;
    return 0;
}

static int read_birth_counter(struct Opcodes *opcodes, PyObject *module)
{
    PyObject *number = PyObject_CallMethod(module, "birth_counter", NULL);
    long value = number ? PyLong_AsLong(number) : -1;

    Py_XDECREF(number);
    if (value < 0)
        return -1;
    opcodes->birth_counter = (uint16_t)value;
    return 0;
}

static int read_fusion(struct Fusion *fusion, PyObject *module)
{
    PyObject *both = PyObject_CallMethod(module, "fusion", NULL);
    PyObject *rows, *pairs;
    unsigned char number, length, part, other;
    Py_ssize_t i;
    int plain, ok = both && PyArg_ParseTuple(both, "OO", &rows, &pairs);

    for (i = 0; ok && i < PyList_GET_SIZE(rows); i++) {
        ok = PyArg_ParseTuple(PyList_GET_ITEM(rows, i), "bbbp", &number,
                              &length, &part, &plain);
        if (!ok || part >= FUSION_PARTS)
            break;
        fusion->length[number] = length;
        fusion->part[number] = part;
        if (plain && part)
            fusion->plain[part] = number;
    }
    for (i = 0; ok && i < PyList_GET_SIZE(pairs); i++) {
        ok = PyArg_ParseTuple(PyList_GET_ITEM(pairs, i), "bbb", &part, &other,
                              &number);
        if (ok && part < FUSION_PARTS && other < FUSION_PARTS)
            fusion->both[part][other] = number;
    }
    Py_XDECREF(both);
    return ok ? 0 : -1;
}

static int operand_kind(const char *name)
{
    static const char *const names[] = {"NONE",  "NUMBER", "CONST", "NAME",
                                        "LOCAL", "LOCALS", "TEXT",  "JUMP"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return (int)i;
    return OPERAND_NUMBER;
}

static int read_operands(struct Opcodes *opcodes, PyObject *module)
{
    PyObject *all = PyObject_CallMethod(module, "operands", NULL);
    PyObject *rows, *texts;
    int null_first, callable;
    Py_ssize_t i;
    int ok = all && PyArg_ParseTuple(all, "OOp", &rows, &texts, &null_first);

    for (i = 0; ok && i < PyList_GET_SIZE(rows); i++) {
        struct Operand operand = {0};
        unsigned char number;
        const char *kind;

        ok = PyArg_ParseTuple(PyList_GET_ITEM(rows, i), "bsbbbp", &number,
                              &kind, &operand.shift, &operand.text,
                              &operand.text_count, &callable);
        if (!ok)
            break;
        operand.kind = (uint8_t)operand_kind(kind);
        operand.callable = callable;
        opcodes->operand[number] = operand;
    }
    for (i = 0; ok && i < PyList_GET_SIZE(texts) && i < OPERAND_TEXTS; i++) {
        const char *text = PyUnicode_AsUTF8(PyList_GET_ITEM(texts, i));

        ok = text != NULL;
        if (ok)
            snprintf(opcodes->texts[i], sizeof opcodes->texts[i], "%s", text);
    }
    if (ok)
        opcodes->null_first = null_first;
    Py_XDECREF(all);
    return ok ? 0 : -1;
}

int InterpreterFacts_opcodes(struct State *state)
{
    static const struct {
        const char *name;
        int flag;
    } flags[] = {
        {"RESUME", OPCODE_RESUME},
        {"RETURN", OPCODE_RETURN},
        {"YIELD", OPCODE_YIELD},
        {"JUMP", OPCODE_JUMP},
        {"BRANCH", OPCODE_BRANCH},
        {"LOOP", OPCODE_LOOP},
        {"ITER", OPCODE_ITER},
        {"SPECIALIZABLE", OPCODE_SPECIALIZABLE},
        {"SPECIALIZED", OPCODE_SPECIALIZED},
        {"INSTRUMENTED", OPCODE_INSTRUMENTED},
        {"EXECUTOR", OPCODE_EXECUTOR},
        {"EXTENDED", OPCODE_EXTENDED},
        {"CALL", OPCODE_CALL},
        {"PUSHES", OPCODE_PUSHES},
        {"VERSIONED", OPCODE_VERSIONED},
    };
    PyObject *module = PyImport_ImportModule("ocular._opcodes");
    PyObject *bits = PyDict_New(), *table = NULL;
    Py_ssize_t row;
    size_t i;
    int result = -1;

    for (i = 0; bits && i < sizeof flags / sizeof *flags; i++) {
        PyObject *bit = PyLong_FromLong(flags[i].flag);

        if (!bit || PyDict_SetItemString(bits, flags[i].name, bit) < 0)
            Py_CLEAR(bits);
        Py_XDECREF(bit);
    }
    if (module && bits)
        table = PyObject_CallMethod(module, "table", "O", bits);
    state->engine.opcodes.far_unit = HOOK_NEAR_UNITS;
    if (table)
        result = read_birth_counter(&state->engine.opcodes, module);
    if (table && result == 0)
        result = read_fusion(&state->fusion, module);
    if (table && result == 0)
        result = read_operands(&state->engine.opcodes, module);
    if (table && result == 0) {
        for (row = 0; result == 0 && row < PyList_GET_SIZE(table); row++)
            result =
                read_row(&state->engine.opcodes, PyList_GET_ITEM(table, row));
    }
    Py_XDECREF(table);
    Py_XDECREF(bits);
    Py_XDECREF(module);
    return result;
}

// Finds the bit of CPython's `_status.active`. A thread that takes the GIL sets
// the bit `active` (Python/pystate.c, tstate_activate). While the thread waits
// for the GIL, the bit `active` is 0.
static void find_active(struct FrameLayout *layout)
{
    union {
        __typeof__(((PyThreadState *)0)->_status) status;
        uint8_t bytes[sizeof(((PyThreadState *)0)->_status)];
    } probe;

    memset(&probe, 0, sizeof probe);
    probe.status.active = 1;
    for (size_t i = 0; i < sizeof probe; i++)
        if (probe.bytes[i]) {
            layout->thread_active = offsetof(PyThreadState, _status) + i;
            layout->active_mask = probe.bytes[i];
        }
}

// Returns the offset in a frame object of the byte that tags a call
// (LongCalls), or 0. The byte is the attribute f_trace_lines.
// CPython sets it to 1, and only asks whether it is 0.
static size_t find_tag(void)
{
    const PyMemberDef *member = PyFrame_Type.tp_members;

    while (member && member->name && strcmp(member->name, "f_trace_lines") != 0)
        member++;
    return member && member->name && member->type == Py_T_BOOL
               ? (size_t)member->offset
               : 0;
}

void InterpreterFacts_layout(struct FrameLayout *layout)
{
    find_active(layout);
    layout->frame_object = FRAME_OBJECT;
    layout->object_tag = find_tag();
    layout->frame_code = FRAME_CODE;
    layout->frame_previous = FRAME_PREVIOUS;
    layout->frame_instruction = FRAME_INSTRUCTION;
    layout->frame_owner = FRAME_OWNER;
    layout->owned_by_c = FRAME_OWNED_BY_C;
    layout->thread_chunk = offsetof(PyThreadState, datastack_chunk);
    // CPython leaves the first slot of the data stack's chunk free
    // (Python/pystate.c, push_chunk).
    layout->chunk_first = offsetof(_PyStackChunk, data[1]);
    layout->code_bytecode = offsetof(PyCodeObject, co_code_adaptive);
    layout->code_mask = FRAME_CODE_MASK;
#if PY_VERSION_HEX >= 0x030D0000
    layout->thread_frame = offsetof(PyThreadState, current_frame);
#else
    layout->through_cframe = true;
    layout->thread_frame = offsetof(PyThreadState, cframe);
    layout->cframe_frame = offsetof(_PyCFrame, current_frame);
#endif
}

void InterpreterFacts_version(char *out, size_t size)
{
    snprintf(out, size, "CPython %.*s", (int)strcspn(Py_GetVersion(), " "),
             Py_GetVersion());
}

int InterpreterFacts_switch_interval(struct State *state)
{
    PyObject *function = PySys_GetObject("getswitchinterval"); // borrowed
    PyObject *value = function ? PyObject_CallNoArgs(function) : NULL;
    double seconds = value ? PyFloat_AsDouble(value) : 0.005;

    Py_XDECREF(value);
    if (PyErr_Occurred())
        return -1;
    state->switch_interval = seconds;
    return 0;
}
