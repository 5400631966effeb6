// SPDX-License-Identifier: MIT
// See stand_in.h.
#include "python/hooks/stand_in.h"
#include "python/hooks/call.h"
#include "python/hooks/writer.h"

PyObject *StandIn_new(PyObject *name, PyObject *file)
{
    PyCodeObject *code =
        (PyCodeObject *)Py_CompileString("None", "", Py_eval_input);

    if (!code)
        return NULL;
    // No other object has a reference to the code object yet. code.replace
    // would call the program's audit hooks.
    Py_SETREF(code->co_name, Py_NewRef(name));
    Py_SETREF(code->co_qualname, Py_NewRef(name));
    Py_SETREF(code->co_filename, Py_NewRef(file));
    code->co_firstlineno = 0;
    return (PyObject *)code;
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

static void write_hit(PyObject *code, enum HitKind kind, size_t unit, size_t to)
{
    if ((!ocular_state.fast || !Writer_write(code, kind, unit, to)) &&
        !Writer_write_again(code, kind, unit, to))
        count_now(code, kind, unit, to);
}

void StandIn_begin(PyObject *code, uintptr_t caller)
{
    write_hit(code, HIT_GARBAGE, ocular_state.begin_unit,
              caller ? Hit_caller(caller) : 0);
}

void StandIn_end(PyObject *code)
{
    write_hit(code, HIT_GARBAGE_END, ocular_state.end_unit, 0);
}
