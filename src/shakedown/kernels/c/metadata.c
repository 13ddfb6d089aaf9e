/* metadata: how many files a second all ranks create, look at, read and remove; each in a directory of its own, and all in one.
 *
 * As mdtest does it: each operation is done to all files before the next one begins, and a rate is what all ranks did over the time from
 * the first rank's start to the last rank's end. create opens a new file, writes `--bytes` into it and closes it; stat asks for what is
 * known of it; read opens it, reads it and closes it. With `--shift N` stat and read are of the files of the rank N above: a client that
 * remembers what it made itself does not ask the server. Rates are of each repeat; the result has their mean, the least and the most. */
#include "common.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char every[] = "own,shared";
static const char *directory = ".", *layouts = every;
static long files = 1000, repeats = 3, shift;
static size_t bytes;

static const struct option options[] = {
    {"--directory", "PATH", TEXT, &directory, 0, "in which the files are made, and removed again"},
    {"--layouts", "own|shared", TEXT, &layouts, 0, "a directory for each rank, or one for all; joined by commas"},
    {"--files", "N", COUNT, &files, 1, "of each rank"},
    {"--bytes", "BYTES", SIZE, &bytes, 0, "in each file"},
    {"--repeats", "N", COUNT, &repeats, 1, "of everything"},
    {"--shift", "N", COUNT, &shift, 0, "stat and read the files of the rank N above; give the ranks of a node, so that no node remembers them"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "metadata", "File system: files created, looked at, read and removed per second by all ranks, in directories of their own and in one.", options, run,
    self_check};

enum { CREATE, STAT, READ, REMOVE, OPERATIONS };
enum { OWN, SHARED, LAYOUTS };
enum { CHECKED = 2 };

static const char *const operation_names[OPERATIONS] = {"create", "stat", "read", "remove"};
static const char *const layout_names[LAYOUTS] = {"own", "shared"};

struct rates { double sum, least, most; long count; };

static char place[PATH_BYTES];      /* the directory of this job */
static unsigned char *buffer;       /* the content of one file */
static struct rates rates[LAYOUTS][OPERATIONS];
static double checked[LAYOUTS][OPERATIONS][CHECKED];    /* in a self-check: the rates of each repeat */

static void check_use(void);
static void measure(int layout, double seconds);
static void write_result(void);

static int run(void)
{
    check_use();
    tell_crowd(1, "they take turns; a rate is what all did over the time from the first start to the last end");
    buffer = memory(bytes);
    memset(rates, 0, sizeof rates);
    long left = repeats * (chosen(layouts, layout_names[OWN]) + chosen(layouts, layout_names[SHARED]));
    make_place(directory, place);
    for (long r = 0; r < repeats; r++)
        for (int l = 0; l < LAYOUTS; l++)
            if (chosen(layouts, layout_names[l]) && !troubled() && !budget_over())
                measure(l, budget_left() / (double)left--);
    remove_place(place);
    free(buffer);
    job.shortened = all_max(job.shortened) > 0;
    if (troubled())
        return tell_trouble();
    if (!rates[OWN][CREATE].count && !rates[SHARED][CREATE].count)
        return failed("the budget of %g s ended before anything was measured; give more --budget", job.budget);
    write_result();
    return 0;
}

static void check_use(void)
{
    if (!*directory || strlen(directory) > PATH_BYTES - 200)
        misuse("option '--directory': the path is %s", *directory ? "too long" : "empty");
    if (files > 99999999)
        misuse("option '--files': %ld is too many; the most is 99999999", files);
    need_memory((double)bytes, "the content of a file", "give fewer --bytes");
}

/* ---- one file ---------------------------------------------------------------------------------------------------------- */

struct folder { char path[PATH_BYTES + 64]; int owner; bool shared; };

static struct folder folder_of(int layout, int owner)
{
    struct folder folder = {.owner = owner, .shared = layout == SHARED};
    if (folder.shared)
        snprintf(folder.path, sizeof folder.path, "%s/shared", place);
    else
        snprintf(folder.path, sizeof folder.path, "%s/rank%08d", place, owner);
    return folder;
}

static const char *path_of(const struct folder *folder, long file)
{
    static char path[sizeof folder->path + 64];
    if (folder->shared)
        snprintf(path, sizeof path, "%s/rank%08d.%08ld", folder->path, folder->owner, file);
    else
        snprintf(path, sizeof path, "%s/%08ld", folder->path, file);
    return path;
}

static unsigned char content(int owner, long file, size_t at)
{
    return (unsigned char)(at % 251 + 31U * (unsigned)owner + 17U * (unsigned long)file);
}

static bool create(const char *path, int owner, long file)
{
    int handle = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (handle < 0)
        return false;
    for (size_t at = 0; at < bytes; at++)
        buffer[at] = content(owner, file, at);
    bool written = !bytes || write_whole(handle, buffer, bytes, 0);
    return close(handle) == 0 && written;
}

static bool look_at(const char *path, int owner, long file)
{
    struct stat found;
    (void)owner;
    if (stat(path, &found) != 0)
        return false;
    long long wanted = (long long)bytes + (job.fault && job.rank == job.ranks - 1 && file == 0);
    if (!S_ISREG(found.st_mode) || found.st_size != wanted)
        note_wrong_size(path, (long long)found.st_size, wanted);
    return true;
}

static bool read_back(const char *path, int owner, long file)
{
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0)
        return false;
    bool read = !bytes || read_whole(handle, buffer, bytes, 0);
    for (size_t at = 0; read && at < bytes; at++)
        if (buffer[at] != content(owner, file, at)) {
            note_wrong_data(path, (long long)at);
            break;
        }
    return close(handle) == 0 && read;
}

static bool remove_one(const char *path, int owner, long file)
{
    (void)owner;
    (void)file;
    return unlink(path) == 0;
}

/* ---- all files --------------------------------------------------------------------------------------------------------- */

static bool (*const acts[OPERATIONS])(const char *, int, long) = {create, look_at, read_back, remove_one};

/* Files done, of the first `count`; fewer where the time is over. Only the removal goes on over the end of the budget and over a signal:
 * what was created never stays behind. */
static long each_file(int operation, const struct folder *folder, long count, double until)
{
    enum { ASK_EVERY = 64 };
    bool others = operation == STAT || operation == READ;
    if (job.checking)
        check(folder->owner == (others ? (job.rank + (int)shift) % job.ranks : job.rank), "ranks look at and read another's files, and make and remove their own");
    for (long f = 0; f < count; f++) {
        if (operation != REMOVE && f % ASK_EVERY == ASK_EVERY - 1 && (now() > until || budget_left() <= 0))
            return f;
        const char *path = path_of(folder, f);
        if (!acts[operation](path, folder->owner, f)) {
            note_trouble(operation_names[operation], path);
            return f;
        }
    }
    return count;
}

/* Files in a directory; -1 where it cannot be read. */
static long count_files(const char *path)
{
    long count = 0;
    DIR *listing = opendir(path);
    if (!listing)
        return -1;
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

/* That all files which were created are in the directory, and no others. */
static void verify_count(int layout, const struct folder *folder, long created)
{
    double all = all_sum((double)created), wanted = layout == SHARED ? all : (double)created;
    if (layout == SHARED && job.rank != 0)
        return;
    long found = count_files(folder->path);
    if (found < 0)
        note_trouble("list the directory", folder->path);
    else if ((double)found != wanted)
        note_wrong_count(folder->path, found, (long)wanted);
}

static void write_rate(int layout, int operation, double value, bool complete)
{
    open_record("io");
    put_text("operation", operation_names[operation]);
    put_text("mode", layout == SHARED ? "in one directory" : "in own directories");
    put_count("files", files);
    put_text("unit", "ops/s");
    put_number("value", value);
    put_flag("complete", complete);
    close_record();
}

/* Turns what the ranks did into the rate of the job, unless any rank is in trouble. */
static void keep(int layout, int operation, long done, struct span span)
{
    double all = all_sum((double)done), seconds;
    job_seconds(&span, 1, &seconds);
    if (troubled() || all <= 0)
        return;
    double rate = all / seconds;
    struct rates *kept = &rates[layout][operation];
    kept->least = kept->count && kept->least < rate ? kept->least : rate;
    kept->most = kept->most > rate ? kept->most : rate;
    kept->sum += rate;
    kept->count++;
    write_rate(layout, operation, rate, all == (double)files * job.ranks);
    if (!job.checking)
        return;
    check(told("value", rate) && told("files", (double)files), "the rate of the files is told");
    check(seconds >= all_max(span.ended - span.began) && seconds == all_max(seconds), "no rank was longer than all, and all know one time");
    if (kept->count <= CHECKED)
        checked[layout][operation][kept->count - 1] = rate;
    if (all == (double)files * job.ranks)
        check(fabs(rate * seconds / ((double)files * job.ranks) - 1) < 1e-9 || job.shortened || job.stopped, "a rate times its time is the files of all ranks");
}

/* The moment at which an operation stops, of those that begin now. Removing takes about as long as creating on most file systems: so
 * creation takes 0.3 of `seconds`, its own time is kept for the removal, and the two between share what is left. */
static double time_for(int operation, double end, double seconds, double creation)
{
    double between = end - creation - now();
    return operation == CREATE ? now() + 0.3 * seconds : operation == STAT ? now() + between / 2 : now() + between;
}

/* All operations once, within `seconds` as far as the file system lets; what was created is always removed. */
static void measure(int layout, double seconds)
{
    struct folder own = folder_of(layout, job.rank), other = folder_of(layout, (int)((job.rank + shift) % job.ranks));
    if ((layout == OWN || job.rank == 0) && mkdir(own.path, 0700) != 0)
        note_trouble("make the directory", own.path);
    if (troubled())
        return;
    double end = now() + seconds, creation = 0;
    long created = 0;
    for (int operation = CREATE; operation < OPERATIONS; operation++) {
        long count = operation == CREATE ? files : operation == REMOVE ? created : (long)all_min((double)created);
        struct span span = start_together();
        const struct folder *folder = operation == STAT || operation == READ ? &other : &own;
        long done = each_file(operation, folder, count, time_for(operation, end, seconds, creation));
        span.ended = now();
        keep(layout, operation, done, span);
        job.shortened |= done < files;
        if (operation == CREATE) {
            created = done;
            creation = span.ended - span.began;
            verify_count(layout, &own, created);
        }
    }
    sync_ranks();
    if ((layout == OWN || job.rank == 0) && !troubled_here() && rmdir(own.path) != 0)
        note_trouble("remove the directory", own.path);
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

static void write_result(void)
{
    open_record("result");
    for (int l = 0; l < LAYOUTS; l++) {
        if (!rates[l][CREATE].count)
            continue;
        open_object(layout_names[l]);
        for (int o = 0; o < OPERATIONS; o++) {
            char key[64];
            const struct rates *kept = &rates[l][o];
            snprintf(key, sizeof key, "%s_per_s", operation_names[o]);
            put_number(key, kept->count ? kept->sum / (double)kept->count : NAN);
            snprintf(key, sizeof key, "least_%s_per_s", operation_names[o]);
            put_number(key, kept->count ? kept->least : NAN);
            snprintf(key, sizeof key, "most_%s_per_s", operation_names[o]);
            put_number(key, kept->count ? kept->most : NAN);
        }
        close_object();
    }
    end_result();
}

static bool rates_are_told(const char *layout, const char *operation, const double *values)
{
    char mean[64], least[64], most[64];
    snprintf(mean, sizeof mean, "%s.%s_per_s", layout, operation);
    snprintf(least, sizeof least, "%s.least_%s_per_s", layout, operation);
    snprintf(most, sizeof most, "%s.most_%s_per_s", layout, operation);
    return told(mean, (values[0] + values[1]) / 2) && told(least, fmin(values[0], values[1])) && told(most, fmax(values[0], values[1]));
}

static int self_check(void)
{
    snprintf(place, sizeof place, "p");
    struct folder own = folder_of(OWN, 3), shared = folder_of(SHARED, 3);
    check(strcmp(path_of(&own, 7), "p/rank00000003/00000007") == 0, "a rank's own directory has its number");
    check(strcmp(path_of(&shared, 7), "p/shared/rank00000003.00000007") == 0, "in one directory the file has the rank's number");
    check(content(1, 0, 0) != content(0, 0, 0) && content(0, 1, 0) != content(0, 0, 0), "content differs by rank and file");
    files = 12;
    bytes = 100;
    repeats = CHECKED;
    shift = 1;
    layouts = every;
    int status = run();
    for (int l = 0; l < LAYOUTS; l++)
        for (int o = 0; o < OPERATIONS; o++) {
            const struct rates *kept = &rates[l][o];
            check(job.stopped || status || kept->count == CHECKED, "each operation is measured in each repeat and layout");
            check(job.stopped || status || (kept->least <= kept->sum / 2 && kept->sum / 2 <= kept->most), "the mean lies between the least and the most");
            check(job.stopped || status || rates_are_told(layout_names[l], operation_names[o], checked[l][o]), "the mean, the least and the most are told");
        }
    return status;
}
