// SPDX-License-Identifier: MIT
// See c_functions.h.
#include "python/hooks/c_functions.h"
#include "ipc/own_file.h"
#include "python/hooks/adopt.h"
#include "python/hooks/stand_in.h"
#include "python/hooks/writer.h"
#include "tracer/code/c_calls.h"

// Largest number of C functions with rows of their own.
#define FUNCTIONS_MOST 8192

// --- Names -------------------------------------------------------------------

static bool is_builtins(PyObject *module)
{
    return PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
}

// Returns the module of a type of C code, as a new reference, or NULL for a
// builtin.
static PyObject *module_of_type(const PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');
    PyObject *module = type->tp_flags & Py_TPFLAGS_HEAPTYPE
                           ? PyDict_GetItemString(type->tp_dict, "__module__")
                           : NULL; // borrowed

    if (module)
        return PyUnicode_Check(module) ? Py_NewRef(module) : NULL;
    return dot ? PyUnicode_FromStringAndSize(type->tp_name, dot - type->tp_name)
               : NULL;
}

// Returns the name of a type as a person would write it, such as "dict" or
// "sqlite3.Cursor", as a new reference.
static PyObject *name_of_type(const PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');
    PyObject *module = module_of_type(type);
    PyObject *name = type->tp_flags & Py_TPFLAGS_HEAPTYPE
                         ? Py_NewRef(((PyHeapTypeObject *)type)->ht_qualname)
                         : PyUnicode_FromString(dot ? dot + 1 : type->tp_name);

    if (name && module && !is_builtins(module))
        Py_SETREF(name, PyUnicode_FromFormat("%U.%U", module, name));
    Py_XDECREF(module);
    return name;
}

// Returns the class in the MRO of `type` whose methods contain `method`, or
// `type` itself.
static const PyTypeObject *owner_of(const PyTypeObject *type,
                                    const PyMethodDef *method)
{
    PyObject *classes = type->tp_mro;

    for (Py_ssize_t i = 0; classes && i < PyTuple_GET_SIZE(classes); i++) {
        const PyTypeObject *base =
            (const PyTypeObject *)PyTuple_GET_ITEM(classes, i);

        for (const PyMethodDef *at = base->tp_methods; at && at->ml_name; at++)
            if (at == method)
                return base;
    }
    return type;
}

static PyObject *name_in(PyObject *owner, const char *name)
{
    PyObject *result =
        owner ? PyUnicode_FromFormat("%U.%s", owner, name) : NULL;

    Py_XDECREF(owner);
    return result;
}

// Returns the name of a function in a module, or of a method that is bound to
// an object or to a class.
static PyObject *name_of_builtin(const PyCFunctionObject *function)
{
    const char *name = function->m_ml->ml_name;
    PyObject *self = function->m_self, *module = function->m_module;

    if (self && PyType_Check(self))
        return name_in(
            name_of_type(owner_of((PyTypeObject *)self, function->m_ml)), name);
    if (self && !PyModule_Check(self))
        return name_in(name_of_type(owner_of(Py_TYPE(self), function->m_ml)),
                       name);
    if (module && PyUnicode_Check(module) && !is_builtins(module))
        return PyUnicode_FromFormat("%U.%s", module, name);
    return PyUnicode_FromString(name);
}

// Returns the attribute `name` of an object, as a new reference, if the
// attribute is a text that C code returns or that the object itself has.
// Otherwise returns NULL.
static PyObject *text_of(PyObject *object, PyObject *name)
{
    PyObject *found = _PyType_Lookup(Py_TYPE(object), name); // borrowed
    PyObject *text = NULL;

    if ((!found || PyUnicode_CheckExact(found)) &&
        Py_TYPE(object)->tp_getattro == PyObject_GenericGetAttr)
        text = PyObject_GetAttr(object, name);
    else if (found && (Py_IS_TYPE(found, &PyGetSetDescr_Type) ||
                       Py_IS_TYPE(found, &PyMemberDescr_Type)))
        text = Py_TYPE(found)->tp_descr_get(found, object,
                                            (PyObject *)Py_TYPE(object));
    if (text && (text == found || !PyUnicode_CheckExact(text)))
        Py_CLEAR(text);
    PyErr_Clear();
    return text;
}

// Returns the name of an object that is a function of a C extension, such as a
// function of Cython's, a ufunc or numpy.dot, or NULL.
static PyObject *name_of_object(const struct State *state, PyObject *object)
{
    PyObject *module = text_of(object, state->names[NAME_MODULE]);
    PyObject *name = text_of(object, state->names[NAME_QUALNAME]);

    if (!name)
        name = text_of(object, state->names[NAME_NAME]);
    // The module of a function without a module is that of its class.
    if (!module && name)
        module = module_of_type(Py_TYPE(object));
    if (name && module)
        Py_SETREF(name, PyUnicode_FromFormat("%U.%U", module, name));
    Py_XDECREF(module);
    return name;
}

// --- Which C function --------------------------------------------------------

// Returns true for a class that was defined in Python. A class statement takes
// the text of the class's name as tp_name, and C code makes a text of its own.
static bool is_python_class(const PyTypeObject *type)
{
    const PyHeapTypeObject *heap = (const PyHeapTypeObject *)type;

    return type->tp_flags & Py_TPFLAGS_HEAPTYPE && !heap->_ht_tpname &&
           type->tp_name == PyUnicode_AsUTF8(heap->ht_name);
}

// Returns the C class that makes the objects of a class.
static PyTypeObject *maker_of(PyTypeObject *type)
{
    while (is_python_class(type) && type->tp_base)
        type = type->tp_base;
    return type;
}

// Returns the object whose call runs the C code of a call of `callable`, as a
// borrowed reference, or NULL if the callable is a Python function or cannot be
// called.
static PyObject *resolve(const struct State *state, PyObject *callable)
{
    PyTypeObject *type;
    PyObject *call;

    while (PyMethod_Check(callable))
        callable = PyMethod_GET_FUNCTION(callable);
    type = Py_TYPE(callable);
    if (PyFunction_Check(callable) || !type->tp_call)
        return NULL;
    if (PyType_Check(callable))
        return (PyObject *)maker_of((PyTypeObject *)callable);
    if (!is_python_class(type))
        return callable;
    call = _PyType_Lookup(type, state->names[NAME_CALL]); // borrowed
    return !call || Py_IS_TYPE(call, &PyWrapperDescr_Type) ? callable : NULL;
}

// Returns the PyMethodDef of a C function, or NULL. All bound methods and
// descriptors of the function share its PyMethodDef. The functions __new__ of
// all types share a single PyMethodDef, which therefore identifies no function,
// so this returns NULL for them.
static const PyMethodDef *definition_of(PyObject *callable)
{
    PyTypeObject *type = Py_TYPE(callable);

    if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type)
        return ((PyMethodDescrObject *)callable)->d_method;
    if (PyCFunction_Check(callable)) {
        const PyCFunctionObject *function = (PyCFunctionObject *)callable;

        if (!function->m_self || !PyType_Check(function->m_self) ||
            strcmp(function->m_ml->ml_name, "__new__") != 0)
            return function->m_ml;
    }
    return NULL;
}

// Returns the name of the C function as a new reference, or NULL. `callable` is
// a result of resolve().
static PyObject *name_of(const struct State *state, PyObject *callable)
{
    PyTypeObject *type = Py_TYPE(callable);
    PyObject *name;

    if (PyCFunction_Check(callable))
        return name_of_builtin((PyCFunctionObject *)callable);
    if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type)
        return name_in(name_of_type(PyDescr_TYPE(callable)),
                       ((PyMethodDescrObject *)callable)->d_method->ml_name);
    if (type == &PyWrapperDescr_Type)
        return name_in(name_of_type(PyDescr_TYPE(callable)),
                       ((PyWrapperDescrObject *)callable)->d_base->name);
    if (PyType_Check(callable))
        return name_of_type((PyTypeObject *)callable);
    name = name_of_object(state, callable);
    return name ? name : name_in(name_of_type(maker_of(type)), "__call__");
}

// --- The stand-ins -----------------------------------------------------------

// Returns a new reference to the key of the callable in state->c_functions, or
// NULL. The key of a function with a PyMethodDef is the address of the
// PyMethodDef. The key of any other function is its name, because CPython
// reuses the address of a freed object.
static PyObject *key_of(const struct State *state, PyObject *callable)
{
    const PyMethodDef *definition = definition_of(callable);

    return definition ? PyLong_FromVoidPtr((void *)definition)
                      : name_of(state, callable);
}

// Makes a stand-in, and returns a borrowed reference to the stand-in or NULL.
static PyObject *make(struct State *state, PyObject *key, PyObject *callable)
{
    PyObject *name = name_of(state, callable), *code = NULL;

    // Reading a name may have run code of the program.
    if (name && state->phase == PHASE_TRACING &&
        PyDict_GET_SIZE(state->c_functions) < FUNCTIONS_MOST)
        code = StandIn_new(state, name, state->c_file);
    if (code && PyDict_SetItem(state->c_functions, key, code) < 0)
        Py_CLEAR(code);
    Py_XDECREF(code); // The dict keeps the code object.
    Py_XDECREF(name);
    if (code)
        Adopt_classify(state, (PyCodeObject *)code);
    return code;
}

// Returns the address that identifies the callable as long as Ocular traces, or
// NULL. Only functions with a PyMethodDef, and classes of C code that are never
// freed, have such an address.
static const void *address_of(PyObject *callable)
{
    if (PyType_Check(callable))
        return ((PyTypeObject *)callable)->tp_flags & Py_TPFLAGS_HEAPTYPE
                   ? NULL
                   : callable;
    return definition_of(callable);
}

// Returns the record of the callable's stand-in, or NULL. Makes the stand-in if
// it is missing.
static struct Code *search(struct State *state, PyObject *callable)
{
    PyObject *error = PyErr_GetRaisedException();
    PyObject *key = NULL, *code = NULL;

    callable = resolve(state, callable);
    if (callable)
        key = key_of(state, callable);
    if (key && state->phase == PHASE_TRACING)
        code = PyDict_GetItemWithError(state->c_functions, key);
    if (key && !code)
        code = make(state, key, callable);
    Py_XDECREF(key);
    PyErr_Clear();
    PyErr_SetRaisedException(error);
    return code ? Adopt_find(state, code) : NULL;
}

// Returns the record of the callable's stand-in, or NULL. Clears *fast if the
// stand-in had to be searched.
static struct Code *stand_in(struct State *state, PyObject *callable,
                             bool *fast)
{
    const void *address;
    struct SeenFunction *seen;
    struct Code *code;

    if (PyFunction_Check(callable) || state->phase != PHASE_TRACING)
        return NULL;
    address = address_of(callable);
    seen = &state->c_seen[((uintptr_t)address >> 4) % SEEN_FUNCTIONS];
    if (address && seen->address == address)
        return seen->code;
    *fast = false;
    code = search(state, callable);
    if (code && address)
        *seen = (struct SeenFunction){address, code};
    return code;
}

// Writes a hit. Its hook began at `begin`, or `begin` is 0 if the hook did
// something that is rare.
static void write_hit(PyObject *caller, enum HitKind kind, size_t unit,
                      const struct Code *code, uint64_t begin)
{
    if (StandIn_write(caller, kind, unit, code->hot.id) && begin)
        ThreadTrace_note_c_hook(own_trace,
                                ocular_state.engine.counting.ring.last - begin);
}

// Returns true if CPython reports no end of the call. CALL_FUNCTION_EX has no
// event for the end if it calls a bound method.
static bool has_no_end(const struct State *state, const struct Code *caller,
                       uint32_t unit, PyObject *callable)
{
    return PyMethod_Check(callable) &&
           (unit >= caller->layout.unit_count ||
            Opcodes_is(&state->engine.opcodes, caller->who.bytecode[2 * unit],
                       "CALL_FUNCTION_EX"));
}

enum CEvent CFunctions_begin(struct State *state, struct Code *caller,
                             uint32_t unit, PyObject *callable, uint64_t begin)
{
    PyObject *object = (PyObject *)caller->who.address;
    bool fast = true, known, counts;
    const struct Code *code = stand_in(state, callable, &fast);

    // Reading a name may have run code that ended the trace.
    if (!fast)
        caller = Adopt_find(state, object);
    if (!caller)
        return C_ENDS;
    known = CCalls_note(caller, unit, code ? code->hot.id : 0);
    counts = code && !has_no_end(state, caller, unit, callable);
    if (state->counts_c ? !counts
                        : !CCalls_is_open(caller) ||
                              !(counts || CCalls_expects(caller, unit)))
        return C_ENDS;
    if (counts)
        write_hit(object, HIT_C_BEGIN, unit, code, fast && known ? begin : 0);
    return known ? C_IS_KNOWN : C_GOES_ON;
}

void CFunctions_end(struct State *state, struct Code *caller, uint32_t unit,
                    PyObject *callable)
{
    PyObject *object = (PyObject *)caller->who.address;
    uint64_t begin = Clock_counter();
    bool fast = true;
    const struct Code *code = stand_in(state, callable, &fast);

    // The search for the name takes time that must not count as time of the C
    // function.
    if (code && !fast)
        Writer_pay(begin, 0);
    if (code)
        write_hit(object, HIT_C_END, unit, code, fast ? begin : 0);
}

void CFunctions_stop(struct State *state)
{
    memset(state->c_seen, 0, sizeof state->c_seen);
    PyDict_Clear(state->c_functions);
}

int CFunctions_init(struct State *state)
{
    if (!state->c_functions)
        state->c_functions = PyDict_New();
    // adopt.c recognises the stand-ins by this object, which no other code
    // object has.
    if (!state->c_file)
        state->c_file = PyUnicode_FromString(C_FUNCTION_FILE);
    return state->c_functions && state->c_file ? 0 : -1;
}
