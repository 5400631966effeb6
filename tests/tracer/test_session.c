// SPDX-License-Identifier: MIT
// Tests tracer/session/session: start and finish leave nothing behind, and
// viewers get answers through a real connection until the end.
#define _GNU_SOURCE 1
#include "formats/table.h"
#include "tracer/session/session.h"

#include "ipc/base/heap.h"
#include "ipc/client.h"
#include "tests/sanitizers.h"
#include "tests/tracer/make_engine.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/lifetime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

struct Fixture {
    struct Engine engine;
    struct Session *session;
    struct ThreadTrace *trace;
    char directory[64];
};

static void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static unsigned entries(const char *path)
{
    DIR *directory = opendir(path);
    unsigned count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static void path_in(struct Fixture *f, char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", f->directory, name);
}

static struct Config config_of(struct Fixture *f)
{
    struct Config config = {.mode = "adaptive",
                            .threshold = 500,
                            .timeline = true,
                            .timeline_limit = 16 << 20,
                            .serve = true,
                            .sampler = true,
                            .budget = 0.01};

    path_in(f, config.output, "trace.json");
    return config;
}

static void start(struct Fixture *f, const struct Config *config)
{
    char why[256] = "";

    // Thread records start afresh before each session's collector, as in
    // python/. Otherwise the collector would find the tracks of the session
    // before.
    ThreadTraces_reset(&f->engine.traces, config->timeline,
                       Clock_read(&f->engine.clock));
    if (Session_start(&f->session, &f->engine, config, why, sizeof why))
        fail_msg("Session_start: %s", why);
    f->engine.session = f->session;
}

static void start_usual(struct Fixture *f)
{
    const struct Config config = config_of(f);

    start(f, &config);
}

static void end(struct Fixture *f)
{
    f->engine.session = NULL;
    Session_free(f->session);
    f->session = NULL;
}

static void halt(struct Fixture *f)
{
    Session_finish(f->session);
    end(f);
}

static struct Client *join(struct Fixture *f)
{
    struct Served served = {.pid = getpid(), .uid = getuid()};
    struct Client *client;
    char why[256];

    snprintf(served.path, sizeof served.path, "%s",
             Server_path(f->session->server));
    if (Client_open(&client, &served, why, sizeof why))
        fail_msg("Client_open: %s", why);
    return client;
}

// --- Start and finish --------------------------------------------------------

static int set_up(void **state), tear_down(void **state);

TEST_WITH(test_nothing_is_left, set_up, tear_down)
{
    struct Fixture *f = *state;
    unsigned threads = 0, fds = 0;
    struct Snapshot *snapshot;

    for (int i = 0; i < 20; i++) {
        struct Config config = config_of(f);

        config.timeline = i % 2 == 0;
        config.sampler = i % 3 != 0;
        start(f, &config);
        call(f->trace, add_code(&f->engine, "f", 0),
             Clock_read(&f->engine.clock));
        assert_int_equal(entries(f->directory), 1);
        if (i % 4 == 0)
            assert_int_equal(Session_refresh(f->session), 0);
        Session_finish(f->session);
        snapshot = Session_take(f->session);
        assert_int_equal(snapshot->pid, getpid());
        Snapshot_free(snapshot);
        end(f);
        if (i == 0) { // whatever a process makes only once exists now
            threads = entries("/proc/self/task");
            fds = entries("/proc/self/fd");
        }
        assert_int_equal(entries("/proc/self/task"), threads);
        assert_int_equal(entries("/proc/self/fd"), fds);
        assert_int_equal(entries(f->directory), 0); // no socket is left
    }
}

// --- Viewers -----------------------------------------------------------------

static bool is_progress(const struct Message *message)
{
    return message->type == MESSAGE_REPLY && message->value < 1;
}

// Returns the next message of that type. Snapshots and progress may come before
// this message.
static struct Message expect(struct Client *client, unsigned type)
{
    struct Message message;

    for (;;) {
        int got = Client_wait(client, &message, 20000);

        assert_int_equal(got, 1);
        if (message.type == type && !is_progress(&message))
            return message;
        if (message.type != MESSAGE_SNAPSHOT && !is_progress(&message))
            fail_msg("message %u instead of %u: %s", message.type, type,
                     message.text ? message.text : "");
        Message_release(&message);
    }
}

static uint32_t ask(struct Client *client, unsigned type, uint64_t number,
                    const char *text)
{
    char copy[PATH_MAX];
    struct Message request = {
        .type = type, .number = number, .text = text ? copy : NULL};

    snprintf(copy, sizeof copy, "%s", text ? text : "");
    assert_int_equal(Client_request(client, &request), 0);
    return request.request;
}

// Opens the file and sends the descriptor along, as a viewer does.
static uint32_t ask_export(struct Client *client, const char *path)
{
    struct Message request = {.type = MESSAGE_EXPORT, .text = (char *)path};

    request.descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(request.descriptor > 0);
    assert_int_equal(Client_request(client, &request), 0);
    close(request.descriptor);
    return request.request;
}

static void expect_error(struct Client *client, uint32_t request, int error)
{
    struct Message message = expect(client, MESSAGE_ERROR);

    assert_int_equal(message.request, request);
    assert_int_equal(message.number, error);
    assert_true(strlen(message.text) > 10); // the message has an explanation
    Message_release(&message);
}

static void expect_done(struct Client *client, uint32_t request)
{
    struct Message message = expect(client, MESSAGE_REPLY);

    assert_int_equal(message.request, request);
    assert_true(message.value == 1);
    Message_release(&message);
}

// A thread that holds the lock of the list of thread records delays the start
// of the export.
TEST_WITH(test_export_is_cancelled, set_up, tear_down)
{
    struct Fixture *f = *state;
    char path[PATH_MAX];
    struct Client *client;
    uint32_t export;

    start_usual(f);
    client = join(f);
    path_in(f, path, "viewer.json");
    for (uint64_t i = 0; i < 100; i++)
        call(f->trace, add_code(&f->engine, "f", 0),
             Clock_read(&f->engine.clock));
    // The export waits for the lock. The server never waits for the lock, and
    // answers.
    pthread_mutex_lock(&f->session->draining);
    export = ask_export(client, path);
    expect_error(client, ask_export(client, path), EBUSY);
    expect_done(client, ask(client, MESSAGE_CANCEL, 0, NULL));
    pthread_mutex_unlock(&f->session->draining);
    expect_error(client, export, ECANCELED);
    expect_done(client, ask_export(client, path));
    unlink(path);
    Client_close(client);
    halt(f);
}

struct Hammer {
    struct Served served;
    char directory[64];
    _Atomic unsigned rounds;
};

// Sends all kinds of requests until the server drops the connection.
static void *hammer(void *context)
{
    struct Hammer *hammer = context;
    struct Client *client;
    struct Message message, request = {0};
    char why[256], path[PATH_MAX];
    int got = 0, file;

    snprintf(path, sizeof path, "%s/%p.json", hammer->directory,
             (void *)&request);
    if (Client_open(&client, &hammer->served, why, sizeof why))
        return NULL;
    file = open(path, O_WRONLY | O_CREAT, 0600);
    while (got >= 0) {
        static const unsigned types[] = {MESSAGE_EXPORT, MESSAGE_CANCEL,
                                         MESSAGE_REARM, MESSAGE_EXPORT, 77};

        request.type = types[hammer->rounds++ % 5];
        request.text = request.type == MESSAGE_EXPORT ? path : NULL;
        request.descriptor = request.type == MESSAGE_EXPORT ? file : 0;
        if (Client_request(client, &request))
            break;
        while ((got = Client_wait(client, &message, 1)) > 0)
            Message_release(&message);
    }
    close(file);
    Client_close(client);
    return NULL;
}

TEST_WITH(test_finish_under_requests, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct Code *code = add_code(&f->engine, "f", 0);

    for (int i = 0; i < 8; i++) {
        struct Hammer hammers = {.served = {.pid = getpid(), .uid = getuid()}};
        pthread_t threads[3];

        start_usual(f);
        snprintf(hammers.served.path, sizeof hammers.served.path, "%s",
                 Server_path(f->session->server));
        snprintf(hammers.directory, sizeof hammers.directory, "%s",
                 f->directory);
        for (uint64_t n = 0; n < 2000; n++)
            call(f->trace, code, Clock_read(&f->engine.clock));
        for (int n = 0; n < 3; n++)
            pthread_create(&threads[n], NULL, hammer, &hammers);
        while (hammers.rounds < 30)
            pause_ms(1);
        halt(f);
        for (int n = 0; n < 3; n++)
            pthread_join(threads[n], NULL);
    }
}

// --- Fork --------------------------------------------------------------------

TEST_WITH(test_abandoned_in_a_child, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct Config config = config_of(f);
    struct Client *client;
    struct Message message;
    int status;
    pid_t child;

    if (FORKS_ALONE)
        skip(); // the next test pauses the session first
    start_usual(f);
    client = join(f);
    // Other threads may hold any lock at this moment, so this test does what
    // python/service/fork.c does.
    Rcu_before_fork();
    Heap_before_fork();
    child = fork();
    if (child == 0) {
        Heap_after_fork();
        Rcu_after_fork_child();
        ThreadTraces_keep_only(&f->engine.traces, NULL);
        Session_abandon(f->session);
        if (f->engine.rearmed) // the parent's ring, which is not emptied here
            Ring_push(f->engine.rearmed, 1, EVENT_REARMED, 1);
        // The child starts its own session in the same directory, without a
        // timeline.
        config.timeline = false;
        start(f, &config);
        halt(f);
        _exit(0);
    }
    Heap_after_fork();
    Rcu_after_fork_parent();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    // The parent's session goes on.
    message = expect(client, MESSAGE_SNAPSHOT);
    Message_release(&message);
    assert_int_equal(Session_refresh(f->session), 0);
    Client_close(client);
    halt(f);
}

// --- The timeline ------------------------------------------------------------

// If the recording may take the disk, a small timeline_limit does not limit it.
TEST_WITH(test_a_growing_recording_forgets_nothing, set_up, tear_down)
{
    const unsigned blocks = 30000;
    struct Fixture *f = *state;
    struct Config config = config_of(f);
    struct Ring *ring = Ring_new(NULL);
    struct Track *track;
    unsigned i;

    config.timeline_limit = 1 << 20;
    path_in(f, config.spill, "");
    start(f, &config);
    track = Timeline_begin(f->session->timeline, 77, 77, "a thread");
    pthread_mutex_lock(&f->session->draining);
    for (i = 0; i < blocks; i++) { // each cut begins a block
        Ring_push(ring, 1000 + i, EVENT_LOOP, Event_loop(1, 1, 0));
        assert_int_equal(Timeline_drain(f->session->timeline, track, ring), 1);
        Timeline_cut(f->session->timeline, NULL, 0);
    }
    assert_int_equal(Timeline_forgotten(f->session->timeline), 0);
    pthread_mutex_unlock(&f->session->draining);
    Timeline_end(f->session->timeline, track);
    Ring_free(ring);
    halt(f);
}

// --- Pause -------------------------------------------------------------------

static unsigned of_ours(void)
{
    return entries("/proc/self/task");
}

TEST_WITH(test_a_pause_ends_the_threads_and_no_more, set_up, tear_down)
{
    struct Fixture *f = *state;
    unsigned alone = of_ours();
    struct Client *client;
    struct Message message;
    struct SamplerTotals before, after;
    uint64_t cpu;

    start_usual(f);
    client = join(f);
    for (int i = 0; i < 30; i++) {
        call(f->trace, add_code(&f->engine, "f", 0),
             Clock_read(&f->engine.clock));
        if (i % 10 == 0) {
            message = expect(client, MESSAGE_SNAPSHOT);
            Message_release(&message);
        }
        Sampler_totals(f->session->sampler, &before);
        cpu = Server_cpu_ns(f->session->server);
        Session_pause(f->session);
        assert_int_equal(of_ours(), alone);
        assert_int_equal(access(Server_path(f->session->server), F_OK), 0);
        assert_int_equal(Session_resume(f->session), 0);
        // All threads run already.
        assert_int_equal(Session_resume(f->session), 0);
        assert_int_equal(of_ours(), alone + 3);
        assert_int_equal(Session_refresh(f->session), 0);
        Sampler_totals(f->session->sampler, &after);
        assert_true(after.cpu_s >= before.cpu_s);
        assert_true(Server_cpu_ns(f->session->server) >= cpu);
    }
    // The viewer has noticed nothing, and the events that came during the pause
    // have arrived.
    expect_done(client, ask(client, MESSAGE_REARM, 0, NULL));
    do {
        message = expect(client, MESSAGE_SNAPSHOT);
        cpu = message.snapshot->function_count;
        Message_release(&message);
    } while (cpu < 30);
    Session_pause(f->session);
    Client_close(client);
    halt(f); // a paused session can be finished
}

// --- Fixture -----------------------------------------------------------------

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    snprintf(f->directory, sizeof f->directory, "/tmp/ocular-session-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    setenv("OCULAR_DIR", f->directory, 1);
    make_engine(&f->engine);
    f->trace = add_trace(&f->engine, false);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;
    char command[128];

    Engine_release(&f->engine);
    snprintf(command, sizeof command, "rm -r %s", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static int use_formats(void **state)
{
    (void)state;
    Formats_use(&Table_formats);
    return 0;
}

int main(void)
{
    return Unit_run(use_formats, NULL);
}
