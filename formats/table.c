// SPDX-License-Identifier: MIT
// See table.h.
#include "formats/table.h"
#include "formats/conversion.h"
#include "formats/output.h"
#include "formats/perfetto.h"
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

static int store(const struct FormatsFile *file, const struct Bytes *bytes,
                 uint64_t *size)
{
    struct Output output;
    int error = file->descriptor ? Output_borrow(&output, file->descriptor,
                                                 file->opened, file->path)
                                 : Output_open(&output, file->path);

    if (error)
        return error;
    error = Output_write(&output, bytes->data, bytes->size);
    if (!error)
        return Output_commit(&output, file->overwrite, size);
    Output_abort(&output);
    return error;
}

const struct Formats Table_formats = {Perfetto_write, write_profile, store,
                                      Conversion_run};
