/* JSON lines on standard output: one object a line, written by rank 0 and flushed at its end, so that a job that is killed
 * leaves every record it finished. A consumer finds values by key, so the order of keys is for readers only. */
#include "common.h"

#include <errno.h>
#include <math.h>

static FILE *out;               /* NULL: standard output */
static unsigned long filled;    /* bit d: the object or list at depth d already has a member */
static int depth;

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
}

static void close_nested(char bracket)
{
    if (silent())
        return;
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
    close_record();
    fclose(out);
    out = NULL;
    const char *wanted =
        "{\"record\":\"test\",\"quote\":\"a\\\"b\\\\c\\u000a\",\"list\":[0.5,null,{\"n\":-3}],\"yes\":true}\n";
    check(strcmp(text, wanted) == 0, "a record is written as JSON");
    free(text);
}
