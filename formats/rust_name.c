// SPDX-License-Identifier: MIT
#include "formats/rust_name.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Largest number of paths and types in a symbol, and how deep they may be
// nested.
#define MOST_STEPS 5000
#define MOST_DEPTH 100

// --- Older symbols -----------------------------------------------------------

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
static bool write_old(const char *symbol, char *text, size_t size)
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

// --- Newer symbols -----------------------------------------------------------

// The grammar is RFC 2603 of Rust. Each kind of path or type has a letter.
struct Reader {
    const char *from, *at; // The symbol after "_R", and the next character.
    char *text;
    size_t size, used;
    unsigned steps, depth;
    unsigned muted; // While it is not 0, nothing is written.
    bool failed;
};

static void read_path(struct Reader *reader);
static void read_type(struct Reader *reader);

static void say(struct Reader *reader, const char *text, size_t size)
{
    if (!reader->muted)
        put(reader->text, reader->size, &reader->used, text, size);
}

static bool take(struct Reader *reader, char letter)
{
    if (*reader->at != letter)
        return false;
    reader->at++;
    return true;
}

// Returns true as long as a list goes on, which ends with an E.
static bool has_next(struct Reader *reader)
{
    return !reader->failed && !take(reader, 'E');
}

static uint64_t read_number(struct Reader *reader)
{
    uint64_t number = 0;

    if (take(reader, '_'))
        return 0;
    for (; isalnum((unsigned char)*reader->at); reader->at++) {
        char digit = *reader->at;

        number = 62 * number + (uint64_t)(digit <= '9'   ? digit - '0'
                                          : digit <= 'Z' ? digit - 'A' + 36
                                                         : digit - 'a' + 10);
    }
    reader->failed |= !take(reader, '_');
    return number + 1;
}

static void read_identifier(struct Reader *reader)
{
    size_t size;

    if (take(reader, 's'))
        read_number(reader);
    take(reader, 'u'); // The name is written in Punycode.
    reader->failed |= !isdigit((unsigned char)*reader->at);
    if (reader->failed)
        return;
    // A name without a length is followed by the next number.
    size =
        take(reader, '0') ? 0 : strtoul(reader->at, (char **)&reader->at, 10);
    take(reader, '_');
    reader->failed |= size > strlen(reader->at);
    if (reader->failed)
        return;
    say(reader, size ? reader->at : "{closure}", size ? size : 9);
    reader->at += size;
}

// Reads a path or a type that is written only once in the symbol.
static void read_again(struct Reader *reader, void (*read)(struct Reader *))
{
    uint64_t place = read_number(reader);
    const char *after = reader->at;

    reader->failed |= place >= (size_t)(after - reader->from);
    if (reader->muted || reader->failed)
        return;
    reader->at = reader->from + place;
    read(reader);
    reader->at = after;
}

// Reads "<type as trait>", or "<type>" if `trait` is false.
static void read_self(struct Reader *reader, bool trait)
{
    say(reader, "<", 1);
    read_type(reader);
    if (trait) {
        say(reader, " as ", 4);
        read_path(reader);
    }
    say(reader, ">", 1);
}

// Reads the value of a constant, such as the length of an array.
static void read_constant(struct Reader *reader)
{
    if (take(reader, 'p'))
        return;
    if (take(reader, 'B')) {
        read_number(reader);
        return;
    }
    reader->failed |= !islower((unsigned char)*reader->at);
    reader->at += !reader->failed;
    while (isxdigit((unsigned char)*reader->at) || *reader->at == 'n')
        reader->at++;
    reader->failed |= !take(reader, '_');
}

static void skip_arguments(struct Reader *reader)
{
    reader->muted++;
    while (has_next(reader)) {
        if (take(reader, 'L'))
            read_number(reader);
        else if (take(reader, 'K'))
            read_constant(reader);
        else
            read_type(reader);
    }
    reader->muted--;
}

static bool enter(struct Reader *reader)
{
    reader->failed |=
        reader->steps++ == MOST_STEPS || reader->depth == MOST_DEPTH;
    reader->depth += !reader->failed;
    return !reader->failed;
}

static void read_path(struct Reader *reader)
{
    char kind = *reader->at;

    if (!enter(reader))
        return;
    reader->at += kind != '\0';
    if (kind == 'M' || kind == 'X') { // The path of the implementation.
        reader->muted++;
        if (take(reader, 's'))
            read_number(reader);
        read_path(reader);
        reader->muted--;
    }
    if (kind == 'C') {
        read_identifier(reader);
    } else if (kind == 'N' && *reader->at) {
        reader->at++;
        read_path(reader);
        say(reader, "::", 2);
        read_identifier(reader);
    } else if (kind == 'M' || kind == 'X' || kind == 'Y') {
        read_self(reader, kind != 'M');
    } else if (kind == 'I') {
        read_path(reader);
        skip_arguments(reader);
    } else if (kind == 'B') {
        read_again(reader, read_path);
    } else {
        reader->failed = true;
    }
    reader->depth--;
}

static void read_function(struct Reader *reader)
{
    if (take(reader, 'G'))
        read_number(reader);
    take(reader, 'U');
    reader->muted++;
    if (take(reader, 'K') && !take(reader, 'C'))
        read_identifier(reader);
    while (has_next(reader))
        read_type(reader);
    read_type(reader);
    reader->muted--;
}

static void read_traits(struct Reader *reader)
{
    if (take(reader, 'G'))
        read_number(reader);
    for (bool first = true; has_next(reader); first = false) {
        say(reader, " + ", first ? 0 : 3);
        read_path(reader);
        reader->muted++;
        while (!reader->failed && take(reader, 'p')) {
            read_identifier(reader);
            read_type(reader);
        }
        reader->muted--;
    }
    reader->failed |= !take(reader, 'L');
    read_number(reader);
}

static void read_list(struct Reader *reader)
{
    for (bool first = true; has_next(reader); first = false) {
        say(reader, ", ", first ? 0 : 2);
        read_type(reader);
    }
}

// The types of one letter, from a to z. Each type but the first and the
// variadic arguments has the letter of its place.
static const char *const SIMPLE[] = {
    "i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
    "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
    "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};

static void read_type(struct Reader *reader)
{
    static const struct {
        char kind;
        const char *before, *after;
    } kinds[] = {{'A', "[", "]"},    {'S', "[", "]"},    {'T', "(", ")"},
                 {'R', "&", ""},     {'Q', "&mut ", ""}, {'P', "*const ", ""},
                 {'O', "*mut ", ""}, {'F', "fn", ""},    {'D', "dyn ", ""}};
    char kind = *reader->at;
    size_t i = 0;

    if (islower((unsigned char)kind)) {
        say(reader, SIMPLE[kind - 'a'], strlen(SIMPLE[kind - 'a']));
        reader->at++;
        return;
    }
    if (!enter(reader))
        return;
    while (i < sizeof kinds / sizeof *kinds && kinds[i].kind != kind)
        i++;
    if (i == sizeof kinds / sizeof *kinds && !take(reader, 'B')) {
        read_path(reader);
    } else if (i == sizeof kinds / sizeof *kinds) {
        read_again(reader, read_type);
    } else {
        reader->at++;
        say(reader, kinds[i].before, strlen(kinds[i].before));
        if ((kind == 'R' || kind == 'Q') && take(reader, 'L'))
            read_number(reader);
        if (kind == 'T')
            read_list(reader);
        else if (kind == 'F')
            read_function(reader);
        else if (kind == 'D')
            read_traits(reader);
        else
            read_type(reader);
        if (kind == 'A')
            read_constant(reader);
        say(reader, kinds[i].after, strlen(kinds[i].after));
    }
    reader->depth--;
}

bool RustName_write(const char *symbol, char *text, size_t size)
{
    struct Reader reader = {.text = text, .size = size};

    if (strncmp(symbol, "_R", 2) != 0)
        return write_old(symbol, text, size);
    *text = '\0';
    reader.from = reader.at = symbol + 2;
    read_path(&reader);
    return !reader.failed;
}
