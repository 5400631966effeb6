// SPDX-License-Identifier: MIT
// Decides which code is traced. A rule is a substring of the path or of the
// qualified name. A dot in a rule also matches a slash of the path, so a
// package's name matches the package's files. An exclude rule wins over an
// include rule. The rules are set at start and read once for each code object.
#ifndef OCULAR_TRACER_BASE_FILTER_H
#define OCULAR_TRACER_BASE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct Filter {
    char **exclude;
    size_t exclude_count;
    // If there is no include rule, all code that is not excluded is traced.
    char **include;
    size_t include_count;
};

void Filter_init(struct Filter *filter);
void Filter_release(struct Filter *filter);
// Returns 0, -ENOMEM, or -EINVAL for an empty text, which would match
// everything.
int Filter_exclude(struct Filter *filter, const char *text);
int Filter_include(struct Filter *filter, const char *text);
bool Filter_accepts(const struct Filter *filter, const char *file,
                    const char *name);

#endif
