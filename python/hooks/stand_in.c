// SPDX-License-Identifier: MIT
// See stand_in.h.
#include "python/hooks/stand_in.h"
#include "python/hooks/call.h"
#include "python/hooks/writer.h"

int StandIn_init(struct State *state)
{
    PyCodeObject *code;

    if (state->stand_in_bytecode)
        return 0;
    code = (PyCodeObject *)Py_CompileString("None", "", Py_eval_input);
    if (!code)
        return -1;
    state->stand_in_bytecode = PyCode_GetCode(code);
    state->stand_in_lines = Py_NewRef(code->co_linetable);
    state->stand_in_consts = Py_NewRef(code->co_consts);
    Py_DECREF(code);
    return state->stand_in_bytecode ? 0 : -1;
}

// Compiling, and code.replace, would call the program's audit hooks.
PyObject *StandIn_new(struct State *state, PyObject *name, PyObject *file)
{
    PyObject *none = PyTuple_New(0);
    PyObject *bytes = PyBytes_FromString("");
    PyObject *code =
        none && bytes ? (PyObject *)PyUnstable_Code_New(
                            0, 0, 0, 1, 0, state->stand_in_bytecode,
                            state->stand_in_consts, none, none, none, none,
                            file, name, name, 0, state->stand_in_lines, bytes)
                      : NULL;

    Py_XDECREF(bytes);
    Py_XDECREF(none);
    return code;
}

bool StandIn_find_units(struct State *state, const struct Code *code)
{
    unsigned found = 0;

    for (uint32_t i = 0; code && i < code->layout.site_count; i++) {
        const struct Site *site = &code->layout.sites[i];

        if (site->kind == SITE_START)
            state->begin_unit = (uint8_t)site->unit;
        else if (site->kind == SITE_RETURN)
            state->end_unit = (uint8_t)site->unit;
        found |= 1u << site->kind;
    }
    return found & 1u << SITE_START && found & 1u << SITE_RETURN;
}

// Counts the beginning or the end at once, because no hit can be written.
static void count_now(PyObject *code, enum HitKind kind, size_t unit, size_t to)
{
    PyObject *offset = PyLong_FromSize_t(2 * unit);
    PyObject *const args[2] = {code, offset};
    struct Call call;

    Call_init(&call);
    if (offset && Call_look(&call, args, 2))
        Call_count_alone(&call, kind, to);
    Py_XDECREF(offset);
}

bool StandIn_write(PyObject *code, enum HitKind kind, size_t unit, size_t to)
{
    if (!Hit_fits(0, unit, to))
        return false;
    if (ocular_state.fast && Writer_write(code, kind, unit, to))
        return true;
    if (!Writer_write_again(code, kind, unit, to))
        count_now(code, kind, unit, to);
    return false;
}
