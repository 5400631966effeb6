// SPDX-License-Identifier: MIT
#include "tracer/base/filter.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <string.h>

void Filter_init(struct Filter *filter)
{
    memset(filter, 0, sizeof(*filter));
}

static void release(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        Heap_free(texts[i]);
    Heap_free(texts);
}

void Filter_release(struct Filter *filter)
{
    release(filter->exclude, filter->exclude_count);
    release(filter->include, filter->include_count);
    Filter_init(filter);
}

static int append(char ***texts, size_t *count, const char *text)
{
    char **grown, *copy;

    if (text[0] == '\0')
        return -EINVAL; // A rule with an empty text would match all code.
    copy = Heap_text(text);
    if (copy == NULL)
        return -ENOMEM;
    grown = Heap_resize(*texts, (*count + 1) * sizeof(*grown));
    if (grown == NULL) {
        Heap_free(copy);
        return -ENOMEM;
    }
    grown[(*count)++] = copy;
    *texts = grown;
    return 0;
}

int Filter_exclude(struct Filter *filter, const char *text)
{
    return append(&filter->exclude, &filter->exclude_count, text);
}

int Filter_include(struct Filter *filter, const char *text)
{
    return append(&filter->include, &filter->include_count, text);
}

// Returns true if `path` begins with `text`. A dot in `text` also matches a
// slash of `path`, so "json.decoder" matches "json/decoder.py".
static bool path_begins(const char *path, const char *text)
{
    for (; *text; path++, text++) {
        if (*path != *text && !(*path == '/' && *text == '.'))
            return false;
    }
    return true;
}

static bool path_contains(const char *path, const char *text)
{
    for (; *path; path++) {
        if (path_begins(path, text))
            return true;
    }
    return false;
}

static bool matches(char *const *texts, size_t count, const char *file,
                    const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if ((file && path_contains(file, texts[i])) ||
            (name && strstr(name, texts[i])))
            return true;
    }
    return false;
}

bool Filter_accepts(const struct Filter *filter, const char *file,
                    const char *name)
{
    if (matches(filter->exclude, filter->exclude_count, file, name))
        return false;
    return filter->include_count == 0 ||
           matches(filter->include, filter->include_count, file, name);
}
