// SPDX-License-Identifier: MIT
#include "python/module/start.h"
#include "ipc/file_kind.h"
#include "python/module/tracing.h"
#include "python/service/mask_watch.h"
#include "python/service/strict.h"
#include "python/service/termination.h"
#include "tracer/session/settings.h"
#include "tracer/timeline/output_name.h"

#include <string.h>

const char Start_doc[] =
    "start(mode, timeline, timeline_limit, instructions, spill, "
    "spill_asked, threshold, exclude, include, serve, signal, budget, stall_s, "
    "events, native, output, command, by)\n\n"
    "Starts tracing. budget is a float; NaN: no budget. by says who starts the "
    "trace: BY_PROGRAM, BY_ACTIVATION (serve), or in a forked child BY_CHILD, "
    "or BY_WRITING_CHILD if the timeline is written at stop.";

// The program has requested a session of its own. If a session was started for
// a viewer or in a forked child, ends that session. The viewers of the old
// session stay connected and get the snapshots of the new session.
static void make_room(struct State *state)
{
    if (state->phase != PHASE_TRACING ||
        !(state->inherited || ocular_service.activation.armed))
        return;
    state->engine.session->hands_over = true;
    Tracing_end(state);
    PyErr_Clear();
}

static int start_held(struct State *state, const struct Request *request,
                      int by)
{
    struct Activation *activation = &ocular_service.activation;
    int error;

    Activation_hold(activation);
    make_room(state);
    if (state->phase == PHASE_IDLE)
        Strict_start();
    // Changes of a thread's signal mask are watched before the first timer
    // exists. take_down() in tracing.c stops this watch.
    MaskWatch_start();
    error = Tracing_start(state, request);
    if (!error && request->config.serve && !activation->persistent.server)
        Termination_serves(Server_path(state->engine.session->server));
    if (state->phase == PHASE_IDLE)
        Strict_stop();
    state->inherited = !error && (by == BY_CHILD || by == BY_WRITING_CHILD);
    state->writes = by == BY_PROGRAM || by == BY_WRITING_CHILD;
    activation->armed = !error && by == BY_ACTIVATION;
    Activation_let_go(activation, state->phase == PHASE_TRACING);
    return error;
}

PyObject *Start_trace(struct State *state, PyObject *args)
{
    struct Request request;
    struct Config *config = &request.config;
    const char *mode, *output, *spill, *events;
    int timeline, instructions, serve, by, spill_asked, native;
    Py_ssize_t limit;
    unsigned long long threshold;

    memset(&request, 0, sizeof request);
    if (!PyArg_ParseTuple(args, "spnpypKO!O!piddspysi:start", &mode, &timeline,
                          &limit, &instructions, &spill, &spill_asked,
                          &threshold, &PyList_Type, &request.exclude,
                          &PyList_Type, &request.include, &serve,
                          &config->signal, &config->budget, &config->stall_s,
                          &events, &native, &output, &request.command, &by))
        return NULL;
    if (strlen(output) >= sizeof config->output ||
        strlen(spill) >= sizeof config->spill) {
        PyErr_SetString(PyExc_ValueError,
                        "output, timeline_spill: the path is too long");
        return NULL;
    }
    snprintf(config->mode, sizeof config->mode, "%s", mode);
    snprintf(config->output, sizeof config->output, "%s", output);
    config->threshold = threshold;
    config->profile = timeline && FileKind_is_profile(output);
    config->timeline = timeline && !config->profile;
    config->timeline_limit = (size_t)limit;
    config->instructions = config->timeline && instructions;
    snprintf(config->spill, sizeof config->spill, "%s", spill);
    config->spill_asked = spill_asked;
    config->record = timeline && (by == BY_PROGRAM || by == BY_WRITING_CHILD) &&
                     !OutputName_is_device(output);
    config->serve = serve;
    config->events = Settings_events(events);
    config->native = native;
    config->objects = config->events & CHOSEN_REFERENCE;
    config->sampler = true;
    config->each_turn = Strict_serve;
    if (ocular_service.activation.persistent.server)
        config->persistent = &ocular_service.activation.persistent;
    if (by == BY_CHILD || by == BY_WRITING_CHILD)
        OutputName_own(output, config->output);
    if (by == BY_PROGRAM)
        ChildStarter_cancel_trace(&ocular_service.child_starter);
    if (start_held(state, &request, by) < 0)
        return NULL;
    Py_RETURN_NONE;
}
