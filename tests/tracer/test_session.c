// SPDX-License-Identifier: MIT
// Tests tracer/session/session. Viewers on real connections get answers until
// the end of the trace.
#define _GNU_SOURCE 1
#include "formats/conversion.h"
#include "formats/live_export.h"
#include "tracer/session/session.h"

#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "ipc/client.h"
#include "tests/rest.h"
#include "tests/sanitizers.h"
#include "tests/tracer/make_engine.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/lifetime.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

struct Fixture {
    struct Engine engine;
    struct Session *session;
    struct ThreadTrace *trace;
    struct Client *client;
    char directory[64];
};

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

    // As in python/, the thread records are reset before the collector starts.
    // Otherwise the collector's thread would find the tracks of the session
    // before.
    ThreadTraces_reset(&f->engine.traces, config->timeline,
                       Clock_read(&f->engine.clock));
    if (Session_start(&f->session, &f->engine, config, why, sizeof why))
        fail_msg("Session_start: %s", why);
    f->engine.session = f->session;
}

// Makes one call while holding the counting lock, because the collector's
// thread reads the calls in flight.
static void count_call(struct Fixture *f, struct Code *code)
{
    Counting_begin(&f->engine.counting);
    call(f->trace, code, Clock_read(&f->engine.clock));
    Counting_end(&f->engine.counting);
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

static bool is_progress(const struct Message *message)
{
    return message->type == MESSAGE_REPLY && message->value < 1;
}

// Returns the next message of the type `type`. Snapshots and progress can come
// before this message.
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

// Receives a recording. Returns the recording's descriptor, which the caller
// closes.
static int receive_recording(struct Client *client, double *steady_s)
{
    struct Message message;
    int copy;

    ask(client, MESSAGE_HANDOUT, HANDOUT_TIMELINE, NULL);
    message = expect(client, MESSAGE_RECORDING);
    copy = dup(message.descriptor);
    assert_true(copy > 2);
    *steady_s = message.value;
    Message_release(&message);
    return copy;
}

static bool no_watch(void *context, double done, uint64_t bytes)
{
    (void)context, (void)done, (void)bytes;
    return true;
}

// Makes a file from the recording as a viewer does, and returns the file's
// contents. The caller frees the returned text.
static char *convert(struct Fixture *f, int recording)
{
    char path[PATH_MAX], *text;
    struct LiveExport export = {
        .recording = recording, .name = "x.json", .progress = no_watch};

    path_in(f, path, "x.json");
    export.output = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (LiveExport_run(&export))
        fail_msg("%s", export.why);
    text = calloc(1, export.bytes + 1);
    assert_int_equal(pread(export.output, text, export.bytes, 0), export.bytes);
    close(export.output);
    unlink(path);
    return text;
}

static void add_dark_ones(struct Fixture *f, int count)
{
    char name[200];

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < count; i++)
        add_code(&f->engine, name, 0)->cold.dark_since = 1;
}

// A recording in memory has too little room for all names, but a viewer gets
// all names.
TEST_FIXTURE(test_a_handout_has_all_names)
{
    double steady_s;
    char *text;

    start_usual(f);
    f->client = join(f);
    count_call(f, add_code(&f->engine, "active", 0));
    Collect_drain(f->session);
    add_dark_ones(f, 20000);
    text = convert(f, receive_recording(f->client, &steady_s));
    assert_true(steady_s == 0);
    assert_non_null(strstr(text, "active"));
    assert_null(strstr(text, "<retired>"));
    free(text);
}

// Stores the headers of the file's blocks of the kind `kind`. Returns the
// number of stored headers.
static size_t blocks_of(int file, enum RecordingKind kind,
                        struct RecordingBlock *blocks, size_t most)
{
    size_t count = 0;
    off_t at = RECORDING_PAGE;

    while (count < most &&
           pread(file, &blocks[count], sizeof *blocks, at) == sizeof *blocks) {
        count += blocks[count].magic == RECORDING_BLOCK &&
                 blocks[count].at == (uint64_t)at && blocks[count].kind == kind;
        at += RECORDING_UNIT;
    }
    return count;
}

TEST_FIXTURE(test_names_stay_in_place)
{
    struct Config config = config_of(f);
    struct RecordingBlock before[8], after[8];
    size_t count, i;
    double steady_s;
    int file;

    config.record = true;
    start(f, &config);
    f->client = join(f);
    add_dark_ones(f, 20);
    file = receive_recording(f->client, &steady_s);
    assert_true(steady_s > 1);
    count = blocks_of(file, RECORDING_NAMES, before, 8);
    assert_true(count > 0);
    for (i = 0; i < 50; i++) {
        count_call(f, add_code(&f->engine, "a function that is new", 0));
        Collect_drain(f->session);
    }
    assert_true(blocks_of(file, RECORDING_NAMES, after, 8) > count);
    for (i = 0; i < count; i++)
        assert_memory_equal(&before[i], &after[i], sizeof *before);
    close(file);
}

// Asks for the timeline, and returns the answer without its descriptor. The
// caller releases the message.
static struct Message ask_timeline(struct Client *client)
{
    ask(client, MESSAGE_HANDOUT, HANDOUT_TIMELINE, NULL);
    return expect(client, MESSAGE_RECORDING);
}

// Two viewers copy the file at the same time. The second viewer does not
// lengthen the time for which the timeline is held, and the lists of the first
// viewer are not moved.
TEST_FIXTURE(test_two_viewers_get_one_cut)
{
    struct Config config = config_of(f);
    struct RecordingBlock before[2], after[2];
    struct Client *first, *second;
    struct Message message;
    uint64_t began, held;
    double steady_s;
    int file;

    config.record = true;
    start(f, &config);
    first = join(f);
    second = join(f);
    count_call(f, add_code(&f->engine, "f", 0));
    do {
        began = Now_ns(CLOCK_MONOTONIC);
        file = receive_recording(first, &steady_s);
        held = Timeline_held_until(f->session->timeline);
        assert_int_equal(blocks_of(file, RECORDING_THREADS, before, 2), 1);
        rest_ms(1100);
        message = ask_timeline(second);
        assert_int_equal(blocks_of(file, RECORDING_THREADS, after, 2), 1);
        close(file);
    } while (Now_ns(CLOCK_MONOTONIC) - began > 7000000000);
    assert_int_equal(Timeline_held_until(f->session->timeline), held);
    assert_memory_equal(before, after, sizeof *before);
    assert_true(steady_s >= 10 && message.value > 3 && message.value < 9);
    assert_non_null(strstr(message.text, " s are missing, because"));
    Message_release(&message);
    // The file will not be held long enough for another viewer, so this viewer
    // waits for a new cut.
    held = Timeline_hold_for(f->session->timeline, 500000000);
    message = ask_timeline(second);
    assert_true(Now_ns(CLOCK_MONOTONIC) >= held);
    assert_true(message.value > 10);
    assert_null(message.text);
    Message_release(&message);
    Client_close(first);
    Client_close(second);
}

static unsigned waiting(struct Handouts *handouts)
{
    unsigned count;

    pthread_mutex_lock(&handouts->mutex);
    count = handouts->count;
    pthread_mutex_unlock(&handouts->mutex);
    return count;
}

// The collector's thread answers one request in each turn of its loop, so it
// can be stopped between two requests. An expensive answer is followed by a
// longer pause.
TEST_FIXTURE(test_handouts_have_a_price)
{
    struct Handouts *handouts;
    struct Message message;
    uint64_t now, cost, pause;

    start_usual(f);
    handouts = &f->session->handouts;
    f->client = join(f);
    // From here on, this thread does the work of the collector's thread.
    Collector_stop(&f->session->collector);
    for (int i = 0; i < 3; i++)
        ask(f->client, MESSAGE_HANDOUT, HANDOUT_STACKS, NULL);
    while (waiting(handouts) < 3)
        rest_ms(1);
    now = Now_ns(CLOCK_MONOTONIC);
    cost = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    assert_int_equal(handouts->serve(f->session), 0);
    cost = Now_ns(CLOCK_THREAD_CPUTIME_ID) - cost;
    assert_int_equal(waiting(handouts), 2);
    assert_true(handouts->paid_ns > now + 50 * cost);
    handouts->paid_ns = Now_ns(CLOCK_MONOTONIC) + 1010000000000;
    pause = handouts->serve(f->session);
    assert_true(pause > 500000 && pause <= 1000001);
    assert_int_equal(waiting(handouts), 2);
    handouts->paid_ns = 0;
    assert_int_equal(handouts->serve(f->session), 0);
    handouts->paid_ns = 0;
    assert_int_equal(handouts->serve(f->session), UINT_MAX);
    assert_int_equal(waiting(handouts), 0);
    assert_int_equal(Collector_start(&f->session->collector), 0);
    for (int i = 0; i < 3; i++) {
        message = expect(f->client, MESSAGE_RECORDING);
        Message_release(&message);
    }
}

// If not NULL, a thread that writes to a file in memory waits.
static struct Session *_Atomic stopped;
static atomic_bool copying, drains;

static void wait_for_the_test(struct Session *session)
{
    // Copying a recording can take long, and must not hold the lock meanwhile.
    if (pthread_mutex_trylock(&session->draining))
        drains = true;
    else
        pthread_mutex_unlock(&session->draining);
    copying = true;
    while (stopped)
        rest_ms(1);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    struct Session *session = stopped;
    struct stat status;

    if (session && fstat(fd, &status) == 0 && !status.st_nlink)
        wait_for_the_test(session);
    return syscall(SYS_pwrite64, fd, data, size, at);
}

// Returns the number of files in memory that this process has open.
static int files_in_memory(void)
{
    char link[64], target[64];
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        ssize_t size;

        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        size = readlink(link, target, sizeof target - 1);
        target[size > 0 ? size : 0] = '\0';
        count += strstr(target, "memfd:ocular") != NULL;
    }
    return count;
}

// If a thread ends within a call, the call does not stay in flight for ever.
TEST_FIXTURE(test_the_open_call_of_a_thread_that_ended)
{
    struct Code *code = add_code(&f->engine, "f", 500);
    struct ThreadTrace *other = add_trace(&f->engine, false);

    ThreadTrace_enter(other, code, 1, 0, Clock_read(&f->engine.clock));
    ThreadTrace_end(other);
    ThreadTraces_reset(&f->engine.traces, false, Clock_read(&f->engine.clock));
    assert_int_equal(code->hot.running, 1);
    code->hot.dark = true;
    Engine_rearm(&f->engine, code, 500, true);
    assert_int_equal(code->hot.running, 0);
}

// If the program forks while Ocular makes a copy, the child closes the copy.
// Otherwise the child would keep the memory of the copy.
TEST_FIXTURE(test_a_child_keeps_no_copy)
{
    struct Message message;
    int status, held;
    pid_t child;

    if (FORKS_ALONE)
        skip();
    start_usual(f);
    f->client = join(f);
    copying = drains = false;
    stopped = f->session;
    ask(f->client, MESSAGE_HANDOUT, HANDOUT_TIMELINE, NULL);
    while (!copying)
        rest_ms(1);
    Rcu_before_fork();
    Heap_before_fork();
    child = fork();
    if (child == 0) {
        Heap_after_fork();
        Rcu_after_fork_child();
        ThreadTraces_keep_only(&f->engine.traces, NULL);
        Session_abandon(f->session);
        _exit(files_in_memory());
    }
    Heap_after_fork();
    Rcu_after_fork_parent();
    assert_int_equal(waitpid(child, &status, 0), child);
    held = files_in_memory();
    stopped = NULL; // The copying thread goes on.
    assert_int_equal(held, 1);
    assert_int_equal(status, 0);
    assert_false(drains);
    message = expect(f->client, MESSAGE_RECORDING);
    Message_release(&message);
}

static void set_up(struct Fixture *f)
{
    snprintf(f->directory, sizeof f->directory, "/tmp/ocular-session-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    setenv("OCULAR_DIR", f->directory, 1);
    make_engine(&f->engine);
    f->trace = add_trace(&f->engine, false);
}

static void tear_down(struct Fixture *f)
{
    char command[128];

    Client_close(f->client);
    if (f->session)
        halt(f);
    Engine_release(&f->engine);
    snprintf(command, sizeof command, "rm -r %s", f->directory);
    assert_int_equal(system(command), 0);
}

static void use_formats(void)
{
    Formats_use(&Conversion_formats);
}

int main(void)
{
    return Unit_run(use_formats, NULL);
}
