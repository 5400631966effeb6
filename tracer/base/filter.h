// SPDX-License-Identifier: MIT
// Decides which code is traced. A rule of the filter is a text that occurs in a
// path or in a qualified name. A dot in a rule also matches a slash of the
// path, so the name of a package matches the package's files. If an exclude
// rule and an include rule both match, the code is excluded. The rules are set
// at the start of tracing, and are applied once to each code object.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct Filter {
    char **exclude;
    size_t exclude_count;
    // The include rules. If there are no include rules, all code that is not
    // excluded is traced.
    char **include;
    size_t include_count;
};

void Filter_init(struct Filter *filter);
void Filter_release(struct Filter *filter);
// Adds a rule and returns 0, -ENOMEM, or -EINVAL for an empty text, which would
// match everything.
int Filter_exclude(struct Filter *filter, const char *text);
int Filter_include(struct Filter *filter, const char *text);
bool Filter_accepts(const struct Filter *filter, const char *file,
                    const char *name);
