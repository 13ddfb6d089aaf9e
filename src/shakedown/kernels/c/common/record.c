/* JSON lines on standard output: one object a line, written by rank 0 and flushed at its end, so that a job that is killed
 * leaves every record it finished. A consumer finds values by key, so the order of keys is for readers only. */
#include "common.h"

#include <errno.h>
#include <math.h>

static FILE *out;               /* NULL: standard output */
static unsigned long filled;    /* bit d: the object or list at depth d already has a member */
static int depth;

/* In a self-check: what was written last under each name, so that a kernel can compare what it said with what it knows. */
enum { MOST_KEPT = 256, PATH_LETTERS = 96, DEEPEST = 32 };
static struct { char path[PATH_LETTERS]; double value; } kept[MOST_KEPT];
static int kept_count;
static char within[PATH_LETTERS];       /* the names of the objects that are open, each with a dot behind it */
static size_t ends[DEEPEST];            /* where `within` ended before each of them was opened */

static void keep(const char *key, double value)
{
    char path[PATH_LETTERS];
    int k = 0;
    if (!job.checking || !key)
        return;
    snprintf(path, sizeof path, "%s%s", within, key);
    while (k < kept_count && strcmp(kept[k].path, path) != 0)
        k++;
    if (k == MOST_KEPT)
        return;
    kept_count += k == kept_count;
    strcpy(kept[k].path, path);
    kept[k].value = value;
}

bool told(const char *path, double value)
{
    if (job.rank != 0)
        return true;
    for (int k = 0; k < kept_count; k++)
        if (strcmp(kept[k].path, path) == 0)
            return fabs(kept[k].value - value) <= 1e-9 * fabs(value) || (isnan(value) && isnan(kept[k].value));
    return false;
}

double last_told(const char *path)
{
    for (int k = 0; k < kept_count; k++)
        if (strcmp(kept[k].path, path) == 0)
            return kept[k].value;
    return NAN;
}

static bool silent(void)
{
    return job.rank != 0;
}

static FILE *stream(void)
{
    return out ? out : stdout;
}

static void write_quoted(const char *text)
{
    fputc('"', stream());
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(stream(), "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f)   /* bytes of unknown encoding stay readable as Latin-1 */
            fprintf(stream(), "\\u%04x", *c);
        else
            fputc(*c, stream());
    }
    fputc('"', stream());
}

static void begin_member(const char *key)
{
    if (filled & (1UL << depth))
        fputc(',', stream());
    filled |= 1UL << depth;
    if (key) {
        write_quoted(key);
        fputc(':', stream());
    }
}

static void deeper(char bracket)
{
    fputc(bracket, stream());
    depth++;
    filled &= ~(1UL << depth);
}

void open_record(const char *record)
{
    if (silent())
        return;
    depth = 0;
    filled = 0;
    within[0] = '\0';
    deeper('{');
    put_text("record", record);
}

void close_record(void)
{
    if (silent())
        return;
    fputs("}\n", stream());
    if (fflush(stream()) != 0 || ferror(stream()))
        fail("cannot write to standard output: %s", strerror(errno));
}

void put_text(const char *key, const char *value)
{
    if (silent())
        return;
    begin_member(key);
    if (value)
        write_quoted(value);
    else
        fputs("null", stream());
}

void put_number(const char *key, double value)
{
    if (silent())
        return;
    begin_member(key);
    keep(key, value);
    if (isfinite(value))
        fprintf(stream(), "%.9g", value);
    else
        fputs("null", stream());
}

void put_count(const char *key, long long value)
{
    if (silent())
        return;
    begin_member(key);
    keep(key, (double)value);
    fprintf(stream(), "%lld", value);
}

void put_flag(const char *key, bool value)
{
    if (silent())
        return;
    begin_member(key);
    fputs(value ? "true" : "false", stream());
}

static void open_nested(const char *key, char bracket)
{
    if (silent())
        return;
    begin_member(key);
    deeper(bracket);
    size_t length = strlen(within);
    if (depth < DEEPEST)
        ends[depth] = length;
    if (key)
        snprintf(within + length, sizeof within - length, "%s.", key);
}

static void close_nested(char bracket)
{
    if (silent())
        return;
    if (depth < DEEPEST)
        within[ends[depth]] = '\0';
    depth--;
    fputc(bracket, stream());
}

void open_object(const char *key) { open_nested(key, '{'); }
void close_object(void) { close_nested('}'); }
void open_list(const char *key) { open_nested(key, '['); }
void close_list(void) { close_nested(']'); }

void check_records(void)
{
    if (silent())
        return;
    char *text = NULL;
    size_t bytes = 0;
    out = open_memstream(&text, &bytes);
    if (!out)
        fail("no memory for a record");
    open_record("test");
    put_text("quote", "a\"b\\c\n");
    open_list("list");
    put_number(NULL, 0.5);
    put_number(NULL, NAN);
    open_object(NULL);
    put_count("n", -3);
    close_object();
    close_list();
    put_flag("yes", true);
    open_object("rates");
    put_number("gb_s", 2.5);
    close_object();
    put_count("counted", 4);
    close_record();
    fclose(out);
    out = NULL;
    const char *wanted =
        "{\"record\":\"test\",\"quote\":\"a\\\"b\\\\c\\u000a\",\"list\":[0.5,null,{\"n\":-3}],\"yes\":true,\"rates\":{\"gb_s\":2.5},\"counted\":4}\n";
    check(strcmp(text, wanted) == 0, "a record is written as JSON");
    check(told("rates.gb_s", 2.5) && told("counted", 4) && !told("gb_s", 2.5) && !told("rates.gb_s", 2.6), "what was written is known again by its names");
    free(text);
}
