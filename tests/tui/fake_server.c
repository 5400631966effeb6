// SPDX-License-Identifier: MIT
// Serves made-up snapshots by the real server, for tests of the viewer's
// screen: fake_server [--functions N] [--no-sampler] [--mute] [--notice]. The
// program prints its socket's path, and runs until SIGTERM (then it sends END)
// or until stdin is closed. After SIGUSR1 the program hands out the recording
// for which a viewer has asked. The program writes a line to stderr for every
// request and every snapshot.
#include "ipc/server.h"
#include "ipc/version.h"
#include "tests/tui/sample.h"
#include "tracer/timeline/recording.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct Fake {
    struct Server *server;
    struct SampleSpec request;
    int mute;                // If set, sends no snapshots.
    struct Snapshot *newest; // Used by the server's thread only.
    uint64_t exporting;      // Viewer that waits for its recording, or 0.
    uint32_t export_request;
    atomic_bool finish; // The recording must be handed out.
};

// Makes a recording without events, and returns its file descriptor.
static int make_recording(void)
{
    struct RecordingHead head = {.hz = 1e9, .start_ticks = 1, .now_ticks = 2};
    int error, fd;
    struct Recording *recording = Recording_new_shared(&error);

    if (!recording)
        abort();
    Recording_put_head(recording, &head);
    Recording_flush(recording, true);
    fd = Recording_share(recording);
    Recording_put(recording);
    return fd;
}

static void hand_out(struct Fake *fake)
{
    struct Message answer = {.type = MESSAGE_RECORDING,
                             .request = fake->export_request};

    if (!atomic_exchange(&fake->finish, false))
        return;
    answer.descriptor = make_recording();
    Server_answer(fake->server, fake->exporting, &answer);
    fake->exporting = 0;
}

static void want(void *context, bool first)
{
    struct Fake *fake = context;
    (void)first;
    if (fake->mute)
        return;
    Snapshot_free(fake->newest);
    fake->newest = Sample_new(fake->request);
    fake->request.tick++;
    if (fake->exporting)
        hand_out(fake);
    fprintf(stderr, "snapshot %u\n", (unsigned)fake->request.tick);
    Server_notify(fake->server);
}

static const struct Snapshot *get(void *context)
{
    return ((struct Fake *)context)->newest;
}

static void put(void *context, const struct Snapshot *snapshot)
{
    (void)context;
    (void)snapshot;
}

static void request(void *context, uint64_t ui, const struct Message *message)
{
    struct Fake *fake = context;
    struct Message answer = {
        .type = MESSAGE_REPLY, .request = message->request, .value = 1};
    fprintf(stderr, "request %d %llu %s\n", (int)message->type,
            (unsigned long long)message->number,
            message->text ? message->text : "");
    if (message->type == MESSAGE_FLAME && fake->request.no_sampler) {
        answer.type = MESSAGE_ERROR;
        answer.number = ENODATA;
        answer.text = "no stacks \x1b[31mare seen";
    } else if (message->type == MESSAGE_FLAME) {
        answer.type = MESSAGE_STACKS;
        answer.stacks = Sample_stacks(fake->request);
    }
    if (message->type == MESSAGE_HANDOUT) {
        fake->exporting = ui;
        fake->export_request = message->request;
        atomic_store(&fake->finish, false);
        return;
    } else if (message->type == MESSAGE_BUDGET) {
        fprintf(stderr, "budget %g\n", message->value);
        answer.value = message->value;
        if (message->value > .5) {
            answer.type = MESSAGE_ERROR;
            answer.number = EINVAL;
            answer.text = "too much";
        }
    } else if (message->type == MESSAGE_REARM && message->number == 2) {
        answer.type = MESSAGE_ERROR;
        answer.number = EBUSY;
        answer.text = "it is armed \x1b[31malready";
    }
    Server_answer(fake->server, ui, &answer);
    FlameTable_free(answer.stacks);
}

static void viewers(void *context, unsigned count)
{
    (void)context;
    fprintf(stderr, "viewers %u\n", count);
}

// Waits for a signal, and returns the signal's number, or 0 when stdin is
// closed.
static int next_signal(int signals)
{
    struct pollfd waiting[] = {{.fd = signals, .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = 0}};
    struct signalfd_siginfo signal;

    while (poll(waiting, 2, -1) < 0 && errno == EINTR)
        ;
    if (!(waiting[0].revents & POLLIN) ||
        read(signals, &signal, sizeof signal) != sizeof signal)
        return 0;
    return (int)signal.ssi_signo;
}

int main(int argc, char **argv)
{
    struct Fake fake = {0};
    struct ServerSource source = {&fake,   want,    get, put,
                                  request, viewers, NULL};
    char why[512];
    sigset_t mask;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--functions") == 0 && i + 1 < argc)
            fake.request.extra = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--no-sampler") == 0)
            fake.request.no_sampler = 1;
        else if (strcmp(argv[i], "--mute") == 0)
            fake.mute = 1;
        else if (strcmp(argv[i], "--notice") == 0)
            source.notice = "Arming\x1b[31m…";
        else
            return 2;
    }
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    // A server that a test has forgotten ends by itself after this time.
    alarm(600);
    int signals = signalfd(-1, &mask, 0);
    if (Server_open(&fake.server, &source, OCULAR_VERSION, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    printf("%s\n", Server_path(fake.server));
    fflush(stdout);
    while (next_signal(signals) == SIGUSR1)
        atomic_store(&fake.finish, true);
    Server_close(fake.server, 500);
    Snapshot_free(fake.newest);
    return 0;
}
