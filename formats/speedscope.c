// SPDX-License-Identifier: MIT
// A file in speedscope's JSON (speedscope.app/file-format-schema.json) has a
// profile of sampled stacks with their CPU time. If the waits are known, the
// file also has a profile of the wall time, in which a wait is a frame below
// the function that waits.
#include "formats/speedscope.h"
#include "formats/json_tree.h"
#include "ipc/version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct json_object *frame_of(const struct ProfileFunction *function)
{
    struct json_object *frame = json_object_new_object();

    JsonTree_add(&frame, "name", JsonTree_text(function->name));
    if (*function->file)
        JsonTree_add(&frame, "file", JsonTree_text(function->file));
    if (function->line)
        JsonTree_add(&frame, "line", json_object_new_uint64(function->line));
    return frame;
}

static struct json_object *shared_of(const struct Profile *profile)
{
    struct json_object *shared = json_object_new_object();
    struct json_object *frames = json_object_new_array();
    size_t i;

    for (i = 0; frames && i < profile->function_count; i++)
        JsonTree_append(&frames, frame_of(&profile->functions[i]));
    for (i = 0; frames && profile->wait_count && i <= WAIT_UNKNOWN; i++)
        JsonTree_append(
            &frames, frame_of(&(struct ProfileFunction){
                         .name = Profile_wait_name((unsigned)i), .file = ""}));
    JsonTree_add(&shared, "frames", frames);
    return shared;
}

// Returns the stack that ends in a row, outermost frame first. If `wait` is not
// NULL, the frame of this wait is the innermost one.
static struct json_object *stack_of(const struct Profile *profile, size_t row,
                                    const struct FlameWait *wait)
{
    struct json_object *array = json_object_new_array();
    uint32_t stack[PROFILE_DEPTH];
    size_t i = Profile_stack(profile, row, stack);

    while (array && i-- > 0)
        JsonTree_append(&array, json_object_new_uint64(stack[i]));
    if (wait)
        JsonTree_append(&array,
                        json_object_new_uint64(profile->function_count +
                                               WaitKind_of(wait->kind)));
    return array;
}

// The stacks of a profile with their times.
struct Samples {
    struct json_object *stacks, *weights;
    uint64_t all_ns;
};

static void add_sample(struct Samples *samples, struct json_object *stack,
                       uint64_t ns)
{
    JsonTree_append(&samples->stacks, stack);
    JsonTree_append(&samples->weights, json_object_new_uint64(ns));
    samples->all_ns += ns;
}

static struct json_object *one_profile(const struct Profile *profile,
                                       const char *what, bool wall)
{
    struct json_object *one = json_object_new_object();
    struct Samples samples = {json_object_new_array(), json_object_new_array(),
                              0};
    char name[600];
    size_t i;

    for (i = 0; i < profile->row_count; i++)
        if (profile->rows[i].ns)
            add_sample(&samples, stack_of(profile, i, NULL),
                       profile->rows[i].ns);
    for (i = 0; wall && i < profile->wait_count; i++)
        if (profile->waits[i].ns)
            add_sample(
                &samples,
                stack_of(profile, profile->waits[i].parent, &profile->waits[i]),
                profile->waits[i].ns);
    snprintf(name, sizeof name, "%s%s", profile->command, what);
    JsonTree_add(&one, "type", JsonTree_text("sampled"));
    JsonTree_add(&one, "name", JsonTree_text(name));
    JsonTree_add(&one, "unit", JsonTree_text("nanoseconds"));
    JsonTree_add(&one, "startValue", json_object_new_uint64(0));
    JsonTree_add(&one, "endValue", json_object_new_uint64(samples.all_ns));
    JsonTree_add(&one, "samples", samples.stacks);
    JsonTree_add(&one, "weights", samples.weights);
    return one;
}

static struct json_object *document_of(const struct Profile *profile)
{
    struct json_object *root = json_object_new_object();
    struct json_object *all = json_object_new_array();

    JsonTree_append(
        &all,
        one_profile(profile, profile->wait_count ? " (CPU time)" : "", false));
    if (profile->wait_count)
        JsonTree_append(&all, one_profile(profile, " (wall time)", true));
    JsonTree_add(
        &root, "$schema",
        JsonTree_text("https://www.speedscope.app/file-format-schema.json"));
    JsonTree_add(&root, "name", JsonTree_text(profile->command));
    JsonTree_add(&root, "exporter", JsonTree_text("ocular@" OCULAR_VERSION));
    JsonTree_add(&root, "shared", shared_of(profile));
    JsonTree_add(&root, "profiles", all);
    return root;
}

void Speedscope_write(const struct Profile *profile, struct Bytes *out)
{
    struct json_object *root = document_of(profile);
    const char *text =
        root ? json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN)
             : NULL;

    if (text)
        Bytes_put(out, text, strlen(text));
    else
        out->error = -ENOMEM;
    json_object_put(root);
}
