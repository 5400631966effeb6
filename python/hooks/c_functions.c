// SPDX-License-Identifier: MIT
// See c_functions.h. A C function is identified by its PyMethodDef, which all
// bound methods and descriptors of the function share, or by its type.
#include "python/hooks/c_functions.h"
#include "python/hooks/adopt.h"
#include "python/hooks/callees.h"
#include "python/hooks/stand_in.h"
#include "tracer/code/links.h"

// Largest number of C functions with rows of their own.
#define FUNCTIONS_MOST 8192
#define FILE_NAME "<C function>" // Takes the place of a path.

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
// attribute is a text that C code returns. Otherwise returns NULL.
static PyObject *text_of(PyObject *object, PyObject *name)
{
    PyObject *found = Callees_in_class(Py_TYPE(object), name);
    PyObject *text = NULL;

    if (found && (Py_IS_TYPE(found, &PyGetSetDescr_Type) ||
                  Py_IS_TYPE(found, &PyMemberDescr_Type)))
        text = Py_TYPE(found)->tp_descr_get(found, object,
                                            (PyObject *)Py_TYPE(object));
    if (text && !PyUnicode_CheckExact(text))
        Py_CLEAR(text);
    PyErr_Clear();
    return text;
}

// Returns the name of an object that is a function of a C extension, such as a
// function of Cython's or a ufunc of NumPy's, or NULL.
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

// Returns true for a class that was defined in Python.
static bool is_python_class(const PyTypeObject *type)
{
    const PyHeapTypeObject *heap = (const PyHeapTypeObject *)type;

    return type->tp_flags & Py_TPFLAGS_HEAPTYPE &&
           (heap->ht_cached_keys || heap->ht_slots);
}

// Returns the C class that makes the objects of a class.
static PyTypeObject *maker_of(PyTypeObject *type)
{
    while (is_python_class(type) && type->tp_base)
        type = type->tp_base;
    return type;
}

// Returns true if name_of_object would find a name.
static bool is_named(const struct State *state, PyObject *object)
{
    for (int i = NAME_NAME; i <= NAME_QUALNAME; i++) {
        PyObject *found = Callees_in_class(Py_TYPE(object), state->names[i]);

        if (found && (Py_IS_TYPE(found, &PyGetSetDescr_Type) ||
                      Py_IS_TYPE(found, &PyMemberDescr_Type)))
            return true;
    }
    return false;
}

// Returns the object whose call runs the C code of a call of `callable`, as a
// borrowed reference, or NULL if the callable is a Python function.
static PyObject *resolve(const struct State *state, PyObject *callable)
{
    PyTypeObject *type = Py_TYPE(callable);
    PyObject *call;

    if (PyMethod_Check(callable))
        return resolve(state, PyMethod_GET_FUNCTION(callable));
    if (PyFunction_Check(callable))
        return NULL;
    if (PyType_Check(callable))
        return (PyObject *)maker_of((PyTypeObject *)callable);
    call = is_python_class(type)
               ? Callees_in_class(type, state->names[NAME_CALL])
               : NULL;
    return call && PyFunction_Check(call) ? NULL : callable;
}

// Returns the address that identifies the C function. `callable` is a result of
// resolve().
static const void *address_of(const struct State *state, PyObject *callable)
{
    PyTypeObject *type = Py_TYPE(callable);

    if (PyCFunction_Check(callable))
        return ((PyCFunctionObject *)callable)->m_ml;
    if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type)
        return ((PyMethodDescrObject *)callable)->d_method;
    if (type == &PyWrapperDescr_Type)
        return ((PyWrapperDescrObject *)callable)->d_base;
    if (PyType_Check(callable) || is_named(state, callable))
        return callable;
    // The address behind the type's address stands for calls of its objects.
    return (const char *)type + 1;
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
    return name ? name : name_in(name_of_type(type), "__call__");
}

// --- The stand-ins -----------------------------------------------------------

// Returns the C function's stand-in as a borrowed reference, or NULL. If
// another function with another name had the same address before, makes a new
// stand-in.
static PyObject *make(struct State *state, PyObject *address,
                      PyObject *callable)
{
    PyObject *code = PyDict_GetItemWithError(state->c_functions, address);
    PyObject *name = name_of(state, callable);
    bool same =
        code && name &&
        PyUnicode_Compare(((PyCodeObject *)code)->co_qualname, name) == 0;

    if (!same) {
        bool fits = PyDict_GET_SIZE(state->c_functions) < FUNCTIONS_MOST;

        code = name && (code || fits) ? StandIn_new(name, state->c_file) : NULL;
        if (code && PyDict_SetItem(state->c_functions, address, code) < 0)
            Py_CLEAR(code);
        Py_XDECREF(code); // The dict keeps the code object.
    }
    Py_XDECREF(name);
    return code;
}

// Returns true if the function is one that its extension module has defined and
// that is never freed. Other addresses can be used again.
static bool is_lasting(PyObject *callable)
{
    return PyCFunction_Check(callable) ||
           Py_IS_TYPE(callable, &PyMethodDescr_Type) ||
           Py_IS_TYPE(callable, &PyWrapperDescr_Type);
}

enum Search { FIND, FIND_OR_MAKE, MAKE };

// Returns the stand-in of the callable as a borrowed reference, or NULL.
static PyObject *stand_in(struct State *state, PyObject *callable,
                          enum Search search)
{
    PyObject *error = PyErr_GetRaisedException();
    PyObject *number = NULL, *code = NULL;

    callable = resolve(state, callable);
    if (callable)
        number = PyLong_FromVoidPtr((void *)address_of(state, callable));
    if (number &&
        (search == FIND || (search == FIND_OR_MAKE && is_lasting(callable))))
        code = PyDict_GetItemWithError(state->c_functions, number);
    if (number && !code && search != FIND) {
        code = make(state, number, callable);
        if (code)
            Adopt_classify(state, (PyCodeObject *)code);
    }
    Py_XDECREF(number);
    PyErr_Clear();
    PyErr_SetRaisedException(error);
    return code && Adopt_find(state, code) ? code : NULL;
}

static void note(struct State *state, struct Code *caller, uint32_t unit,
                 PyObject *code)
{
    Code_set_c_function(caller, unit,
                        code ? Adopt_find(state, code)->hot.id : 0);
}

void CFunctions_note(struct State *state, struct Code *caller, uint32_t unit,
                     PyObject *callable)
{
    if (state->phase == PHASE_TRACING)
        note(state, caller, unit, stand_in(state, callable, MAKE));
}

void CFunctions_begin(struct State *state, struct Code *caller, uint32_t unit,
                      PyObject *callable)
{
    PyObject *code;

    if (state->phase != PHASE_TRACING)
        return;
    code = stand_in(state, callable, FIND_OR_MAKE);
    note(state, caller, unit, code);
    Counter_add(&state->engine.c_hooks, 1);
    if (code)
        StandIn_begin(code, caller->who.address);
}

void CFunctions_end(struct State *state, PyObject *callable)
{
    PyObject *code;

    if (state->phase != PHASE_TRACING)
        return;
    code = stand_in(state, callable, FIND);
    Counter_add(&state->engine.c_hooks, 1);
    if (code)
        StandIn_end(code);
}

int CFunctions_init(struct State *state)
{
    if (!state->c_functions)
        state->c_functions = PyDict_New();
    // adopt.c recognises the stand-ins by this object, which no other code
    // object has.
    if (!state->c_file)
        state->c_file = PyUnicode_FromString(FILE_NAME);
    return state->c_functions && state->c_file ? 0 : -1;
}
