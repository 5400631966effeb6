// SPDX-License-Identifier: MIT
#include "formats/native_names.h"

#include "formats/native_file.h"
#include "ipc/base/array.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 400
#define MOST_PARTS 40 // Largest number of parts of a Rust path.

// --- Names of C++ and Rust ---------------------------------------------------

// Returns the character for which Rust writes a code such as `$LT$`, and sets
// *end to the text after the code. Returns 0 if `text` does not begin with such
// a code.
static char rust_sign(const char *text, const char **end)
{
    static const struct {
        const char *code;
        char sign;
    } signs[] = {{"$LT$", '<'},   {"$GT$", '>'},  {"$RF$", '&'},
                 {"$BP$", '*'},   {"$C$", ','},   {"$LP$", '('},
                 {"$RP$", ')'},   {"$SP$", '@'},  {"$u20$", ' '},
                 {"$u27$", '\''}, {"$u5b$", '['}, {"$u5d$", ']'},
                 {"$u7b$", '{'},  {"$u7d$", '}'}, {"$u7e$", '~'},
                 {"$u3b$", ';'},  {"$u2b$", '+'}, {"$u22$", '"'}};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t size = strlen(signs[i].code);

        if (strncmp(text, signs[i].code, size) == 0) {
            *end = text + size;
            return signs[i].sign;
        }
    }
    return 0;
}

static void put(char *text, size_t size, size_t *used, const char *more,
                size_t count)
{
    if (*used + count + 1 > size)
        count = size - *used - 1;
    memcpy(text + *used, more, count);
    text[ *used += count] = '\0';
}

// Writes one part of a Rust path.
static void put_rust_part(const char *part, const char *end, char *text,
                          size_t size, size_t *used)
{
    if (end - part > 1 && part[0] == '_' && part[1] == '$')
        part++;
    while (part < end) {
        const char *next = part + 1;
        char sign = rust_sign(part, &next);

        if (sign) {
            put(text, size, used, &sign, 1);
        } else if (part[0] == '.' && part + 1 < end && part[1] == '.') {
            put(text, size, used, "::", 2);
            next = part + 2;
        } else {
            put(text, size, used, part, 1);
        }
        part = next;
    }
}

// Writes the name of a Rust function, whose symbol consists of "_ZN", the parts
// with their lengths, and "E". Returns false if the symbol has another form.
static bool put_rust(const char *symbol, char *text, size_t size)
{
    const char *at = symbol + 3, *part = NULL;
    size_t used = 0, length = 0;

    if (strncmp(symbol, "_ZN", 3) != 0)
        return false;
    *text = '\0';
    while (isdigit((unsigned char)*at)) {
        if (part) {
            if (used)
                put(text, size, &used, "::", 2);
            put_rust_part(part, part + length, text, size, &used);
        }
        length = strtoul(at, (char **)&at, 10);
        if (length > strlen(at))
            return false;
        part = at;
        at += length;
    }
    // The last part is a hash, which is not written.
    return *at == 'E' && part && length == 17 && *part == 'h' && used &&
           strspn(part + 1, "0123456789abcdef") >= 16;
}

// Writes an identifier of Rust's newer symbols, which consists of its length
// and its bytes. A number in base 62 between `s` and `_` can come first and is
// left out. Returns the text after the identifier, or NULL.
static const char *put_identifier(const char *at, const char *before,
                                  char *text, size_t size, size_t *used)
{
    size_t length;

    if (*at == 's') {
        at = strchr(at, '_');
        if (!at++)
            return NULL;
    }
    if (!isdigit((unsigned char)*at))
        return NULL;
    length = strtoul(at, (char **)&at, 10);
    at += *at == '_';
    if (length > strlen(at))
        return NULL;
    put(text, size, used, before, strlen(before));
    put(text, size, used, length ? at : "{closure}", length ? length : 9);
    return at + length;
}

// Writes a path of Rust's newer symbols. A path is either "C" and the crate, or
// "N", a kind, the outer path and the name. Returns the text after the path, or
// NULL if the path has another form.
static const char *put_path(const char *at, unsigned depth, char *text,
                            size_t size, size_t *used)
{
    if (*at == 'C')
        return put_identifier(at + 1, "", text, size, used);
    if (*at != 'N' || !at[1] || depth == MOST_PARTS)
        return NULL;
    at = put_path(at + 2, depth + 1, text, size, used);
    return at ? put_identifier(at, "::", text, size, used) : NULL;
}

static bool put_new_rust(const char *symbol, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    return strncmp(symbol, "_R", 2) == 0 &&
           put_path(symbol + 2, 0, text, size, &used);
}

// Returns the function of the C++ library that demangles names, or NULL if the
// machine has no C++ library.
static void *cxx_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

    return library ? dlsym(library, "__cxa_demangle") : NULL;
}

void NativeNames_demangle(const char *symbol, char *text, size_t size)
{
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    void *found = NULL;
    char *name = NULL;
    int status;

    if (put_rust(symbol, text, size) || put_new_rust(symbol, text, size))
        return;
    if (strncmp(symbol, "_Z", 2) == 0)
        found = cxx_demangler();
    memcpy(&demangle, &found, sizeof demangle);
    if (demangle)
        name = demangle(symbol, NULL, NULL, &status);
    snprintf(text, size, "%s", name ? name : symbol);
    free(name);
}

// --- Files -------------------------------------------------------------------

#define MOST_SOURCES 1024

// A file, and its symbol table or that of its debug file.
struct NativeSource {
    struct NativeSource *next;
    char *path;
    char build[NATIVE_BUILD];
#ifdef OCULAR_LIBDW
    struct NativeFile file;
    bool open;
    struct NativeSymbols symbols;
#endif
};

static void close_source(struct NativeSource *source)
{
#ifdef OCULAR_LIBDW
    NativeSymbols_release(&source->symbols);
    if (source->open)
        NativeFile_close(&source->file);
    source->open = false;
#else
    (void)source;
#endif
}

void NativeNames_release(struct NativeNames *names)
{
    for (struct NativeSource *at = names->sources, *next; at; at = next) {
        next = at->next;
        close_source(at);
        Heap_free(at->path);
        Heap_free(at);
    }
    names->sources = NULL;
}

#ifdef OCULAR_LIBDW
// Opens the file at `path`. If the file has the build id of `source`, the
// file's symbols replace those of `source`. Returns true if the new symbols are
// complete.
static bool open_source(const struct NativeNames *names,
                        struct NativeSource *source, const char *path)
{
    int fd = names->open ? names->open(names->pid, path, NATIVE_OPEN)
                         : NativeFile_descriptor(path);
    struct NativeSymbols symbols = {0};
    struct NativeFile file;
    char build[NATIVE_BUILD];
    bool same, all;

    if (NativeFile_open(&file, fd, 0))
        return false;
    NativeFile_build(&file, build);
    same = *build && strcmp(build, source->build) == 0;
    all = same && NativeFile_symbols(&file, &symbols);
    if (!same || (source->open && !symbols.count)) {
        NativeSymbols_release(&symbols);
        NativeFile_close(&file);
        return false;
    }
    close_source(source);
    source->file = file;
    source->symbols = symbols;
    source->open = true;
    return all;
}

// Looks for a file with all symbols in the folders that debuggers search.
static void read_source(const struct NativeNames *names,
                        struct NativeSource *source)
{
    static const char *const places[] = {"%.*s/%s", "%.*s/.debug/%s",
                                         "/usr/lib/debug%.*s/%s"};
    char path[PATH_MAX], link[NAME_MAX_BYTES];
    const char *build = source->build, *slash = strrchr(source->path, '/');
    int folder = slash ? (int)(slash - source->path) : 0;

    if (open_source(names, source, source->path) || !source->open)
        return;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", build,
             *build ? build + 2 : "");
    if (*build && open_source(names, source, path))
        return;
    if (!NativeFile_debug_link(&source->file, link, sizeof link))
        return;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, places[i], folder, source->path, link);
        if (open_source(names, source, path))
            return;
    }
}
#endif

static struct NativeSource *source_of(struct NativeNames *names,
                                      const char *path, const char *build)
{
    struct NativeSource *at = names->sources;
    size_t count = 0;

    // The text comes from the traced process and can have any length.
    if (strlen(build) >= NATIVE_BUILD)
        return NULL;
    while (at && (strcmp(at->path, path) != 0 || strcmp(at->build, build) != 0))
        at = at->next, count++;
    if (at || count == MOST_SOURCES)
        return at;
    at = Heap_zeroed(1, sizeof *at);
    if (!at)
        return NULL;
    at->path = Heap_text(path);
    if (!at->path) {
        Heap_free(at);
        return NULL;
    }
    snprintf(at->build, sizeof at->build, "%s", build);
    at->next = names->sources;
    names->sources = at;
#ifdef OCULAR_LIBDW
    read_source(names, at);
    if (at->open)
        NativeFile_finish(&at->file);
#endif
    return at;
}

// Returns the name of the function that contains the address, or NULL. A symbol
// of assembly code may have no size.
static const char *symbol_at(const struct NativeSource *source,
                             uint64_t address)
{
#ifdef OCULAR_LIBDW
    const struct NativeSymbols *symbols = &source->symbols;
    const struct NativeSymbol *found;
    size_t low =
        ARRAY_BOUND(symbols->count, symbols->list[middle].at <= address);

    if (!low)
        return NULL;
    found = &symbols->list[low - 1];
    while (found > symbols->list && found[-1].at == found->at)
        // Of several names at the same address, the first one is the best.
        found--;
    return address < found->at + (found->size ? found->size : 1) ? found->name
                                                                 : NULL;
#else
    (void)source, (void)address;
    return NULL;
#endif
}

static void write_name(struct NativeNames *names, const char *path,
                       const char *build, uint64_t address, char *text)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct NativeSource *source =
        path && address ? source_of(names, path, build ? build : "") : NULL;
    const char *symbol = source ? symbol_at(source, address) : NULL;

    if (!path)
        snprintf(text, NAME_MAX_BYTES, "(callers not known)");
    else if (symbol)
        NativeNames_demangle(symbol, text, NAME_MAX_BYTES);
    else if (!address)
        snprintf(text, NAME_MAX_BYTES, "%.300s", slash ? slash + 1 : path);
    else
        snprintf(text, NAME_MAX_BYTES, "%.300s+0x%llx",
                 slash ? slash + 1 : path, (unsigned long long)address);
}

// Returns an array without `const`. Only native_names.c may change the tables.
#define CHANGEABLE(array) ((void *)(uintptr_t)(array))

void NativeNames_set(struct NativeNames *names, struct FlameTable *table)
{
    struct FlameFunction *functions = CHANGEABLE(table->functions);
    char text[NAME_MAX_BYTES];

    for (size_t i = 0; i < table->function_count; i++) {
        struct FlameFunction *at = &functions[i];

        if (!FlameNative_is(at->id) || at->name)
            continue;
        write_name(names, at->file, at->build,
                   at->address == NULL_U64 ? 0 : at->address, text);
        at->name = Arena_text(&table->arena, text);
    }
}

void NativeNames_set_listing(struct NativeNames *names, struct Listing *listing)
{
    struct ListingNative *natives = CHANGEABLE(listing->natives);
    char text[NAME_MAX_BYTES];

    if (listing->native_count > LISTING_NATIVES)
        listing->native_count = LISTING_NATIVES;
    for (size_t i = 0; i < listing->native_count; i++) {
        struct ListingNative *at = &natives[i];

        write_name(names, at->file, at->build,
                   at->address == NULL_U64 ? 0 : at->address, text);
        at->name = Arena_text(&listing->arena, text);
    }
}
