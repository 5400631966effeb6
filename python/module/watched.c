// SPDX-License-Identifier: MIT
#include "python/module/watched.h"
#include "ipc/client.h"
#include "python/module/convert.h"

#include <fnmatch.h>
#include <stdlib.h>

#define WHY 512
#define NAME 1024
#define TOP_MOST 100
// Maximum number of functions that patterns can choose.
#define CHOSEN_MOST 200

struct Watched {
    PyObject_HEAD pid_t pid;
    struct Client *client;
    bool greeted; // True if the process's hello has come.
};

static PyObject *fail(int error, const char *why)
{
    PyObject *value =
        Py_BuildValue("(is)", -error, *why ? why : strerror(-error));

    if (value)
        PyErr_SetObject(PyExc_OSError, value);
    Py_XDECREF(value);
    return NULL;
}

static PyObject *new (PyTypeObject *type, PyObject *args, PyObject *named)
{
    struct Served served;
    struct Watched *self;
    char why[WHY] = "";
    int pid, error;

    (void)named;
    if (!PyArg_ParseTuple(args, "i:Watched", &pid))
        return NULL;
    self = (struct Watched *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->pid = pid;
    error = Address_find(&served, pid, why, sizeof why);
    if (!error)
        error = Client_begin(&self->client, &served, why, sizeof why);
    if (!error)
        return (PyObject *)self;
    Py_DECREF(self);
    return fail(error, why);
}

static void dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    Client_close(((struct Watched *)object)->client);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *fileno_of(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(Client_fd(((struct Watched *)object)->client));
}

static PyObject *ask(PyObject *object, PyObject *args)
{
    struct Message request = {0};
    unsigned long long number = 0;
    int type, error;

    if (!PyArg_ParseTuple(args, "i|dK:ask", &type, &request.value, &number))
        return NULL;
    request.number = number;
    request.type = (enum MessageType)type;
    error = Client_request(((struct Watched *)object)->client, &request);
    return error ? fail(error, "") : PyLong_FromUnsignedLong(request.request);
}

// --- The functions of a snapshot ---------------------------------------------

// Writes the name of a function with the name of its file before it, for
// example "srv.app.views.index" for index() in /srv/app/views.py.
static void name_of(char name[NAME], const struct Function *function)
{
    const char *file = function->file ? function->file : "";
    size_t length = strlen(file);

    if (length > 3 && !strcmp(file + length - 3, ".py"))
        length -= 3;
    if (length > NAME / 2) {
        file += length - NAME / 2;
        length = NAME / 2;
    }
    snprintf(name, NAME, "%.*s.%s", (int)length, file,
             function->name ? function->name : "");
    for (size_t i = 0; i < length; i++)
        if (name[i] == '/')
            name[i] = '.';
}

// Returns true if the pattern fits the whole name, or the end of the name that
// begins after one of its dots. Most names do not contain the beginning of a
// pattern, and fnmatch() is slow.
static bool fits(const char *pattern, const char *name)
{
    size_t head = strcspn(pattern, "*?[");
    const char *at = name;

    if (!head)
        return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
    for (; (at = memmem(at, strlen(at), pattern, head)); at++)
        if ((at == name || at[-1] == '.') &&
            fnmatch(pattern, at, FNM_NOESCAPE) == 0)
            return true;
    return false;
}

static bool is_chosen(const struct Function *function, PyObject *patterns)
{
    char name[NAME];

    if (!PyTuple_GET_SIZE(patterns))
        return false;
    name_of(name, function);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(patterns); i++)
        if (fits(PyBytes_AS_STRING(PyTuple_GET_ITEM(patterns, i)), name))
            return true;
    return false;
}

// Empties the lists of a record, except those with a name or a group in `kept`,
// which NULL ends. A Python object for each number of thousands of functions
// would take too long.
static void drop_lists(const struct Record *record, void *value,
                       const char *const *kept)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        const char *name = field->group ? field->group : field->name;
        size_t k = 0;

        while (kept[k] && strcmp(kept[k], name) != 0)
            k++;
        if (field->type == FIELD_LIST && !kept[k])
            *(size_t *)((char *)value + field->count_offset) = 0;
    }
}

static PyObject *dicts_of(const struct Function *const *rows, size_t count)
{
    static const char *const READ[] = {"latencies", NULL};
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (size_t i = 0; list && i < count; i++) {
        struct Function row = *rows[i];
        PyObject *dict;

        drop_lists(&FUNCTION_RECORD, &row, READ);
        dict = Convert_record(&FUNCTION_RECORD, &row);

        if (!dict)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, dict);
    }
    return list;
}

typedef bool before_t(const struct Function *, const struct Function *);

static bool uses_more(const struct Function *one, const struct Function *other)
{
    return one->run_share > other->run_share;
}

// The rows of a snapshot can have any order. If the choice depended on it, the
// series would change with each snapshot.
static bool is_chosen_first(const struct Function *one,
                            const struct Function *other)
{
    if (!one->latencies != !other->latencies)
        return one->latencies;
    return one->id < other->id;
}

// Puts a function into a sorted list of the first `most` functions.
static void rank(const struct Function **list, size_t *count, size_t most,
                 const struct Function *function, before_t *is_before)
{
    size_t at = *count;

    if (at == most && (!most || !is_before(function, list[at - 1])))
        return;
    at = at == most ? at - 1 : (*count)++;
    for (; at && is_before(function, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = function;
}

// Adds the functions that patterns choose as "watched", and the number of those
// for which there is no room as "watched_beyond". Adds those with the most CPU
// time as "functions".
static int add_functions(PyObject *dict, const struct Snapshot *snapshot,
                         size_t most, PyObject *patterns)
{
    const struct Function *top[TOP_MOST], *chosen[CHOSEN_MOST];
    size_t top_count = 0, chosen_count = 0, all = 0;
    PyObject *functions, *watched, *number;
    int failed = -1;

    for (size_t i = 0; i < snapshot->function_count; i++) {
        const struct Function *function = &snapshot->functions[i];

        if (function->run_share > 0)
            rank(top, &top_count, most, function, uses_more);
        if (!is_chosen(function, patterns))
            continue;
        all++;
        rank(chosen, &chosen_count, CHOSEN_MOST, function, is_chosen_first);
    }
    functions = dicts_of(top, top_count);
    watched = dicts_of(chosen, chosen_count);
    number = PyLong_FromSize_t(all - chosen_count);
    if (functions && watched && number &&
        PyDict_SetItemString(dict, "functions", functions) == 0 &&
        PyDict_SetItemString(dict, "watched", watched) == 0)
        failed = PyDict_SetItemString(dict, "watched_beyond", number);
    Py_XDECREF(functions);
    Py_XDECREF(watched);
    Py_XDECREF(number);
    return failed;
}

// Returns the snapshot as a dict with only the lists that the agent reads.
static PyObject *from_snapshot(const struct Snapshot *whole, size_t most,
                               PyObject *patterns)
{
    static const char *const READ[] = {"gc", "loops", "objects", NULL};
    struct Snapshot part = *whole;
    PyObject *dict;

    drop_lists(&SNAPSHOT_RECORD, &part, READ);
    dict = Convert_snapshot(&part);
    if (dict && add_functions(dict, whole, most, patterns) < 0)
        Py_CLEAR(dict);
    return dict;
}

// --- Messages ----------------------------------------------------------------

static PyObject *from_message(const struct Message *message, size_t most,
                              PyObject *patterns)
{
    const char *text = message->text ? message->text : "";
    PyObject *value = NULL;

    if (message->type == MESSAGE_SNAPSHOT)
        value = from_snapshot(message->snapshot, most, patterns);
    else if (message->type == MESSAGE_STACKS)
        value = Convert_record(&FLAME_TABLE_RECORD, message->stacks);
    else
        value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    return value ? Py_BuildValue("(iIN)", (int)message->type, message->request,
                                 value)
                 : NULL;
}

// Receives a message, or the hello first. Returns 1, 0 or -errno.
static int receive(struct Watched *self, struct Message *message, char *why)
{
    int got;

    if (!self->greeted) {
        got = Client_greet(self->client, self->pid, why, WHY);
        if (got <= 0)
            return got;
        self->greeted = true;
    }
    got = Client_next(self->client, message);
    if (got < 0)
        snprintf(why, WHY, "process %d has ended, or serves no longer",
                 (int)self->pid);
    return got;
}

static PyObject *next(PyObject *object, PyObject *args)
{
    struct Watched *self = (struct Watched *)object;
    struct Message message = {0};
    PyObject *patterns, *result;
    unsigned most;
    char why[WHY] = "";
    int got;

    if (!PyArg_ParseTuple(args, "IO!:next", &most, &PyTuple_Type, &patterns))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(patterns); i++)
        if (!PyBytes_Check(PyTuple_GET_ITEM(patterns, i)))
            return PyErr_Format(PyExc_TypeError, "patterns must be bytes");
    Py_BEGIN_ALLOW_THREADS got = receive(self, &message, why);
    Py_END_ALLOW_THREADS if (got < 0) return fail(got, why);
    if (!got)
        Py_RETURN_NONE;
    result =
        from_message(&message, most < TOP_MOST ? most : TOP_MOST, patterns);
    Message_release(&message);
    return result;
}

static PyMethodDef methods[] = {
    {"fileno", fileno_of, METH_NOARGS, "fileno() -> int"},
    {"ask", ask, METH_VARARGS,
     "ask(type, value=0.0, number=0) -> int\n\nSends a request "
     "(docs/protocol.md), and returns its number."},
    {"next", next, METH_VARARGS,
     "next(functions, patterns) -> (type, request, value) or None\n\n"
     "Returns the next message that has come. Raises OSError if the connection "
     "has ended. A snapshot has the given number of functions with the most "
     "CPU time, and as `watched` those that a pattern (bytes) chooses."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     "Watched(pid)\n\nConnects to a process that serves, without waiting for "
     "its hello. One thread uses the object. Raises OSError."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "ocular._ocular.Watched",
                           .basicsize = sizeof(struct Watched),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

PyDoc_STRVAR(served_doc,
             "served() -> list of int\n\n"
             "Returns the processes that serve and to which this user may "
             "connect, without those that only their container shows.");

static PyObject *served(PyObject *module, PyObject *unused)
{
    struct Served *list;
    long count = Address_list(&list);
    PyObject *pids;

    (void)module, (void)unused;
    if (count < 0)
        return fail((int)count, "");
    pids = PyList_New(count);
    for (long i = 0; pids && i < count; i++)
        PyList_SET_ITEM(pids, i, PyLong_FromLong(list[i].pid));
    free(list);
    return pids;
}

static PyMethodDef functions[] = {
    {"served", served, METH_NOARGS, served_doc},
    {NULL, NULL, 0, NULL},
};

int Watched_add(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type ? PyModule_AddObjectRef(module, "Watched", type) : -1;

    Py_XDECREF(type);
    return failed < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
