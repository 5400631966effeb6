// SPDX-License-Identifier: MIT
// See table.h.
#include "formats/table.h"
#include "formats/conversion.h"
#include "formats/profile_file.h"

static int write_profile(const struct FormatsProfile *source,
                         enum FileContent content, struct Bytes *out)
{
    struct Profile profile;
    int error = Profile_init(&profile, source->table);

    if (error)
        return error;
    profile.start_unix_ns = source->start_unix_ns;
    profile.duration_ns = source->duration_ns;
    profile.command = source->command;
    source->describe(source->context, source->table, profile.functions);
    Profile_merge(&profile);
    Profile_divide(&profile);
    error = ProfileFile_write(&profile, content, out);
    Profile_release(&profile);
    return error;
}

const struct Formats Table_formats = {write_profile, Conversion_store,
                                      Conversion_run};
