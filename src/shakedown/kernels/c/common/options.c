/* The command line: names, values, bounds, --help, and a sentence for whatever is wrong with it. */
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>

static char problem[512];

static const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *read_value(const struct option *option, const char *text);
static const char *unknown(const char *name, const struct option *options, const struct option *shared);
static const struct option *find(const char *name, size_t length, const struct option *options);

enum { MOST_GIVEN = 64 };      /* more options with a value than any kernel has */

const char *read_options(int argc, char **argv, const struct option *options, const struct option *shared)
{
    const struct option *given[MOST_GIVEN];
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        const struct option *option = find(argv[i], length, options);
        if (!option)
            option = find(argv[i], length, shared);
        if (!option)
            return unknown(argv[i], options, shared);
        if (option->kind == FLAG && equals)
            return say("option '%s' takes no value", option->name);
        if (option->kind == FLAG) {
            *(bool *)option->value = true;
            continue;
        }
        for (int g = 0; g < count; g++)
            if (given[g] == option)
                return say("option '%s' is given twice; give it once", option->name);
        if (count < MOST_GIVEN)
            given[count++] = option;
        const char *text = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (!text)
            return say("option '%s' needs a value: %s", option->name, option->word);
        const char *wrong = read_value(option, text);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static const char *say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    return problem;
}

static const struct option *find(const char *name, size_t length, const struct option *options)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

/* Edits that turn one word into the other (Levenshtein's distance); words longer than 31 letters are cut. */
static int edits(const char *left, const char *right)
{
    int n = (int)strnlen(left, 31), m = (int)strnlen(right, 31), row[32];
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = diagonal + (left[i - 1] != right[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

static const char *unknown(const char *name, const struct option *options, const struct option *shared)
{
    const struct option *tables[] = {options, shared};
    const char *nearest = NULL;
    int fewest = 3;     /* from three edits on it is another word, not a slip */
    for (int t = 0; t < 2; t++)
        for (const struct option *o = tables[t]; o->name; o++)
            if (edits(name, o->name) < fewest) {
                fewest = edits(name, o->name);
                nearest = o->name;
            }
    if (name[0] != '-')
        return say("'%.100s' is not an option; see %s --help", name, kernel.name);
    if (nearest)
        return say("there is no option '%.100s'; did you mean '%s'? See %s --help", name, nearest, kernel.name);
    return say("there is no option '%.100s'; see %s --help", name, kernel.name);
}

bool read_size(const char *text, double *bytes)
{
    static const struct { const char *unit; double factor; } units[] = {
        {"", 1}, {"B", 1}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 1024.},
        {"MiB", 1048576.}, {"GiB", 1073741824.}, {"TiB", 1099511627776.}, {NULL, 0}};
    char *rest;
    errno = 0;
    double number = strtod(text, &rest);
    if (rest == text || errno || !isfinite(number) || !isdigit((unsigned char)text[0]))
        return false;
    while (*rest == ' ')
        rest++;
    for (int i = 0; units[i].unit; i++)
        if (strcmp(rest, units[i].unit) == 0) {
            *bytes = number * units[i].factor;
            return *bytes < 9e18 && *bytes == floor(*bytes);
        }
    return false;
}

static const char *read_number(const struct option *option, const char *text, double *number)
{
    char *rest;
    errno = 0;
    *number = strtod(text, &rest);
    if (rest == text || *rest || errno || !isfinite(*number))
        return say("option '%s': '%.100s' is not a number", option->name, text);
    if (option->kind == COUNT && (*number != floor(*number) || *number > 1e15))
        return say("option '%s': '%.100s' is not a whole number", option->name, text);
    return NULL;
}

static const char *read_value(const struct option *option, const char *text)
{
    double number = 0;
    if (option->kind == TEXT) {
        *(const char **)option->value = text;
        return strchr(option->word, '|') ? unknown_choice(text, option->word) : NULL;
    }
    if (option->kind == SIZE) {
        if (!read_size(text, &number))
            return say("option '%s': '%.100s' is not a size; write 4096, 64KiB, 4MiB or 1GB", option->name, text);
    } else {
        const char *wrong = read_number(option, text, &number);
        if (wrong)
            return wrong;
    }
    if (number < option->least)
        return say("option '%s': %s is too small; the least is %.15g", option->name, text, option->least);
    if (option->kind == COUNT)
        *(long *)option->value = (long)number;
    else if (option->kind == SIZE)
        *(size_t *)option->value = (size_t)number;
    else
        *(double *)option->value = number;
    return NULL;
}

bool chosen(const char *list, const char *item)
{
    size_t length = strlen(item);
    for (const char *at = list; at; at = strpbrk(at, ",|")) {
        at += *at == ',' || *at == '|';
        if (strncmp(at, item, length) == 0 && (!at[length] || at[length] == ',' || at[length] == '|'))
            return true;
    }
    return false;
}

const char *unknown_choice(const char *text, const char *choices)
{
    char item[64];
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)(length < 60 ? length : 60), at);
        if (!chosen(choices, item) || !*item)
            return say("'%s' is not one of %s", item, choices);
        if (!at[length])
            return NULL;
        at += length + 1;
    }
}

static void print_option(const struct option *option)
{
    char left[80], given[64] = "";
    snprintf(left, sizeof left, "%s %s", option->name, option->kind == FLAG ? "" : option->word);
    if (option->kind == COUNT && *(long *)option->value)
        snprintf(given, sizeof given, " [%ld]", *(long *)option->value);
    else if (option->kind == SIZE && *(size_t *)option->value)
        snprintf(given, sizeof given, " [%zu]", *(size_t *)option->value);
    else if (option->kind == NUMBER && *(double *)option->value > 0)
        snprintf(given, sizeof given, " [%g]", *(double *)option->value);
    else if (option->kind == TEXT && *(const char **)option->value)
        snprintf(given, sizeof given, " [%.50s]", *(const char **)option->value);
    printf("  %-24s %s%s\n", left, option->help, given);
}

void print_help(const struct option *options, const struct option *shared)
{
    printf("usage: mpiexec -n RANKS %s [OPTION VALUE]...\n\n%s\n\n", kernel.name, kernel.about);
    for (; options->name; options++)
        print_option(options);
    puts("\nof every kernel:");
    for (; shared->name; shared++)
        print_option(shared);
    fflush(stdout);
}

void put_options(const struct option *options)
{
    for (; options->name; options++) {
        char key[64];
        snprintf(key, sizeof key, "%s", options->name + 2);
        for (char *c = key; *c; c++)
            *c = *c == '-' ? '_' : *c;
        if (options->kind == FLAG)
            put_flag(key, *(bool *)options->value);
        else if (options->kind == COUNT)
            put_count(key, *(long *)options->value);
        else if (options->kind == SIZE)
            put_count(key, (long long)*(size_t *)options->value);
        else if (options->kind == NUMBER)
            put_number(key, *(double *)options->value);
        else
            put_text(key, *(const char **)options->value);
    }
}

void check_options(void)
{
    double bytes = 0;
    check(read_size("4MiB", &bytes) && bytes == 4194304, "4MiB is 4194304 bytes");
    check(read_size("1.5 kB", &bytes) && bytes == 1500, "1.5 kB is 1500 bytes");
    check(!read_size("4 Mib", &bytes) && !read_size("-1", &bytes) && !read_size("MiB", &bytes), "wrong sizes are refused");
    check(edits("--sise", "--size") == 1 && edits("kitten", "sitting") == 3, "the edits between two words are counted");
    check(chosen("a,bc", "bc") && !chosen("a,bc", "b"), "an item of a list is found whole");
    check(!unknown_choice("a,bc", "a|bc|d") && unknown_choice("a,e", "a|bc|d"), "a wrong choice is found");
}
