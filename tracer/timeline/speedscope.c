// SPDX-License-Identifier: MIT
// speedscope's JSON (speedscope.app/file-format-schema.json): one profile of
// sampled stacks with their CPU time.
#include "tracer/timeline/speedscope.h"
#include "ipc/version.h"
#include "tracer/base/text.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#define TEXT 4096

// NULL, here and below: memory is out.
static struct json_object *text(const char *value)
{
    char clean[TEXT];
    size_t length = Text_clean(clean, sizeof clean, value, false);

    return json_object_new_string_len(clean, (int)length);
}

static int add(struct json_object *object, const char *key,
               struct json_object *value)
{
    if (value && json_object_object_add(object, key, value) == 0)
        return 0;
    json_object_put(value);
    return -ENOMEM;
}

static int append(struct json_object *array, struct json_object *value)
{
    if (value && json_object_array_add(array, value) == 0)
        return 0;
    json_object_put(value);
    return -ENOMEM;
}

static struct json_object *frame_of(const struct ProfileFunction *function)
{
    struct json_object *frame = json_object_new_object();
    int error = add(frame, "name", text(function->name));

    if (!error && *function->file)
        error = add(frame, "file", text(function->file));
    if (!error && function->line)
        error = add(frame, "line", json_object_new_uint64(function->line));
    if (!error)
        return frame;
    json_object_put(frame);
    return NULL;
}

static int add_frames(const struct Profile *profile, struct json_object *frames)
{
    int error = 0;
    size_t i;

    for (i = 0; !error && i < profile->function_count; i++)
        error = append(frames, frame_of(&profile->functions[i]));
    return error;
}

// Outermost first.
static struct json_object *stack_of(const struct Profile *profile, size_t row)
{
    struct json_object *array = json_object_new_array();
    uint32_t stack[PROFILE_DEPTH];
    size_t i = Profile_stack(profile, row, stack, PROFILE_DEPTH);

    i = i < PROFILE_DEPTH ? i : PROFILE_DEPTH;
    while (array && i-- > 0)
        if (append(array, json_object_new_uint64(stack[i]))) {
            json_object_put(array);
            array = NULL;
        }
    return array;
}

static int add_samples(const struct Profile *profile,
                       struct json_object *samples, struct json_object *weights,
                       uint64_t *all_ns)
{
    int error = 0;
    size_t i;

    for (i = 0; !error && i < profile->row_count; i++) {
        uint64_t ns = profile->rows[i].ns;

        if (!ns)
            continue;
        *all_ns += ns;
        error = append(samples, stack_of(profile, i));
        if (!error)
            error = append(weights, json_object_new_uint64(ns));
    }
    return error;
}

// An empty array or object, which its owner has already.
static struct json_object *within(struct json_object *owner, const char *key,
                                  struct json_object *value)
{
    return owner && add(owner, key, value) == 0 ? value : NULL;
}

static int fill(const struct Profile *profile, struct json_object *root)
{
    struct json_object *shared =
        within(root, "shared", json_object_new_object());
    struct json_object *frames =
        within(shared, "frames", json_object_new_array());
    struct json_object *all = within(root, "profiles", json_object_new_array());
    struct json_object *one = json_object_new_object(), *samples, *weights;
    uint64_t all_ns = 0;
    int error = all ? append(all, one) : -ENOMEM;

    if (error || !frames)
        return -ENOMEM;
    samples = within(one, "samples", json_object_new_array());
    weights = within(one, "weights", json_object_new_array());
    if (!samples || !weights || add_frames(profile, frames) ||
        add_samples(profile, samples, weights, &all_ns) ||
        add(one, "type", text("sampled")) ||
        add(one, "name", text(profile->command)) ||
        add(one, "unit", text("nanoseconds")) ||
        add(one, "startValue", json_object_new_uint64(0)) ||
        add(one, "endValue", json_object_new_uint64(all_ns)))
        return -ENOMEM;
    if (add(root, "name", text(profile->command)) ||
        add(root, "exporter", text("ocular@" OCULAR_VERSION)))
        return -ENOMEM;
    return add(root, "$schema",
               text("https://www.speedscope.app/file-format-schema.json"));
}

void Speedscope_write(const struct Profile *profile, struct Bytes *out)
{
    struct json_object *root = json_object_new_object();
    int error = root ? fill(profile, root) : -ENOMEM;
    const char *document =
        error ? NULL
              : json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);

    if (document)
        Bytes_put(out, document, strlen(document));
    else
        out->error = -ENOMEM;
    json_object_put(root);
}
