// SPDX-License-Identifier: MIT
// A mark is written into the ring of the calling thread, among the events of
// its hooks.
#include "python/module/marks.h"
#include "python/hooks/own_trace.h"
#include "python/service/service.h"
#include "tracer/timeline/mark.h"

// Largest number of a span. The span after it gets number 1.
#define NUMBERS ((1u << 28) - 1)

static bool has_timeline(void)
{
    return ocular_state.phase == PHASE_TRACING &&
           ocular_state.engine.session->config.timeline;
}

PyDoc_STRVAR(has_timeline_doc,
             "has_timeline() -> bool\n\nTrue if the session keeps a timeline.");

static PyObject *has_timeline_now(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(has_timeline());
}

// Returns the calling thread's ring, or NULL if there is no ring or memory is
// out.
static struct Ring *own_ring(uint64_t ticks)
{
    struct ThreadTrace *trace = OwnTrace_get(&ocular_state, ticks);

    return trace ? trace->ring : NULL;
}

static void say(struct Mark *mark)
{
    uint64_t ticks;
    struct Ring *ring;

    if (!has_timeline())
        return;
    ticks = Clock_read(&ocular_state.engine.clock);
    ring = own_ring(ticks);
    if (!ring)
        return;
    Counting_begin(&ocular_state.engine.counting);
    Mark_push(ring, ticks, mark);
    Counting_note(&ocular_state.engine.counting);
    Counting_end(&ocular_state.engine.counting);
}

// Parses the arguments (name: str, args: str) as UTF-8. Returns false with an
// exception on failure.
static bool parse(PyObject *args, const char *format, struct Mark *mark)
{
    Py_ssize_t name_size, args_size;

    if (!PyArg_ParseTuple(args, format, &mark->name, &name_size, &mark->args,
                          &args_size))
        return false;
    mark->name_size = (size_t)name_size;
    mark->args_size = (size_t)args_size;
    return true;
}

PyDoc_STRVAR(mark_doc,
             "mark(name: str, args: str)\n\n"
             "Writes a mark into the timeline. args is a JSON object, "
             "or empty. Without a timeline, does nothing.");

static PyObject *mark(PyObject *module, PyObject *args)
{
    struct Mark mark = {.kind = EVENT_MARK};

    (void)module;
    if (!parse(args, "s#s#:mark", &mark))
        return NULL;
    say(&mark);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(span_begin_doc,
             "span_begin(name: str, args: str) -> int\n\n"
             "Begins a span in the timeline. args is a JSON object, or empty. "
             "Returns the span's number, which span_end() needs.");

static PyObject *span_begin(PyObject *module, PyObject *args)
{
    uint32_t number = ocular_service.spans % NUMBERS + 1;
    struct Mark mark = {.kind = EVENT_SPAN_BEGIN};

    (void)module;
    if (!parse(args, "s#s#:span_begin", &mark))
        return NULL;
    ocular_service.spans = mark.number = number;
    say(&mark);
    return PyLong_FromUnsignedLong(number);
}

PyDoc_STRVAR(span_end_doc,
             "span_end(number: int, name: str)\n\n"
             "Ends the span with this number.");

static PyObject *span_end(PyObject *module, PyObject *args)
{
    struct Mark mark = {.kind = EVENT_SPAN_END};
    Py_ssize_t size;

    (void)module;
    if (!PyArg_ParseTuple(args, "Is#:span_end", &mark.number, &mark.name,
                          &size))
        return NULL;
    mark.name_size = (size_t)size;
    say(&mark);
    Py_RETURN_NONE;
}

PyMethodDef Marks_methods[] = {
    {"has_timeline", has_timeline_now, METH_NOARGS, has_timeline_doc},
    {"mark", mark, METH_VARARGS, mark_doc},
    {"span_begin", span_begin, METH_VARARGS, span_begin_doc},
    {"span_end", span_end, METH_VARARGS, span_end_doc},
    {NULL, NULL, 0, NULL},
};
