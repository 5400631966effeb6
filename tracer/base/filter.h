// SPDX-License-Identifier: MIT
// Which code is traced: substrings of the path (also with "/" read as ".", so
// that package names match) or of the qualified name. Exclude wins. Built at
// start, asked once per code object; read-only in between.
#ifndef OCULAR_TRACER_BASE_FILTER_H
#define OCULAR_TRACER_BASE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct Filter {
    char **exclude;
    size_t exclude_count;
    char **include; // none: everything not excluded
    size_t include_count;
};

void Filter_init(struct Filter *filter);
void Filter_release(struct Filter *filter);
// 0, -ENOMEM, or -EINVAL: an empty text would match everything.
int Filter_exclude(struct Filter *filter, const char *text);
int Filter_include(struct Filter *filter, const char *text);
bool Filter_accepts(const struct Filter *filter, const char *file,
                    const char *name);

#endif
