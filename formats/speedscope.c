// SPDX-License-Identifier: MIT
// A file in speedscope's JSON (speedscope.app/file-format-schema.json) has one
// profile of sampled stacks with their CPU time.
#include "formats/speedscope.h"
#include "formats/json_tree.h"
#include "ipc/version.h"

#include <errno.h>
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
    JsonTree_add(&shared, "frames", frames);
    return shared;
}

// Returns the stack that ends in a row, outermost frame first.
static struct json_object *stack_of(const struct Profile *profile, size_t row)
{
    struct json_object *array = json_object_new_array();
    uint32_t stack[PROFILE_DEPTH];
    size_t i = Profile_stack(profile, row, stack);

    while (array && i-- > 0)
        JsonTree_append(&array, json_object_new_uint64(stack[i]));
    return array;
}

static struct json_object *one_profile(const struct Profile *profile)
{
    struct json_object *one = json_object_new_object();
    struct json_object *samples = json_object_new_array();
    struct json_object *weights = json_object_new_array();
    uint64_t all_ns = 0, ns;
    size_t i;

    for (i = 0; samples && weights && i < profile->row_count; i++) {
        ns = profile->rows[i].ns;
        if (!ns)
            continue;
        all_ns += ns;
        JsonTree_append(&samples, stack_of(profile, i));
        JsonTree_append(&weights, json_object_new_uint64(ns));
    }
    JsonTree_add(&one, "type", JsonTree_text("sampled"));
    JsonTree_add(&one, "name", JsonTree_text(profile->command));
    JsonTree_add(&one, "unit", JsonTree_text("nanoseconds"));
    JsonTree_add(&one, "startValue", json_object_new_uint64(0));
    JsonTree_add(&one, "endValue", json_object_new_uint64(all_ns));
    JsonTree_add(&one, "samples", samples);
    JsonTree_add(&one, "weights", weights);
    return one;
}

static struct json_object *document_of(const struct Profile *profile)
{
    struct json_object *root = json_object_new_object();
    struct json_object *all = json_object_new_array();

    JsonTree_append(&all, one_profile(profile));
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
