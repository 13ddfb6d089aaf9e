/* The parts of files.h: trouble, the directory of the job, content, system calls, in this order. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- trouble ----------------------------------------------------------------------------------------------------------- */

static char trouble[512];       /* "" is none */

void note_trouble(const char *what, const char *path)
{
    if (!*trouble)
        snprintf(trouble, sizeof trouble, "cannot %s %.350s: %s", what, path, strerror(errno));
}

void note_wrong_data(const char *path, long long at)
{
    if (!*trouble)
        snprintf(trouble, sizeof trouble, "%.350s: the data that was read is not what was written, at byte %lld", path, at);
}

void note_wrong_size(const char *path, long long found, long long wanted)
{
    if (!*trouble)
        snprintf(trouble, sizeof trouble, "%.350s: the file has %lld bytes, and %lld were written", path, found, wanted);
}

void note_wrong_count(const char *path, long found, long wanted)
{
    if (!*trouble)
        snprintf(trouble, sizeof trouble, "%.350s: the directory has %ld files, and %ld were created", path, found, wanted);
}

void note_sentence(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*trouble)
        vsnprintf(trouble, sizeof trouble, format, arguments);
    va_end(arguments);
}

bool troubled_here(void)
{
    return *trouble;
}

bool troubled(void)
{
    return first_rank_with(*trouble) < job.ranks;
}

int tell_trouble(void)
{
    if (first_rank_with(*trouble) == job.rank)
        fprintf(stderr, "error: %s: rank %d on %s: %s\n", kernel.name, job.rank, job.node_name, trouble);
    return 1;
}

/* ---- the directory of this job ----------------------------------------------------------------------------------------- */

static char doomed[PATH_BYTES];     /* of the rank that made it: what to remove even when the job fails */

static int remove_entry(const char *path, const struct stat *found, int kind, struct FTW *walk)
{
    (void)found;
    (void)kind;
    (void)walk;
    if (remove(path) != 0 && errno != ENOENT)
        note_trouble("remove", path);
    return 0;
}

static void remove_doomed(void)
{
    if (*doomed)
        nftw(doomed, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    *doomed = '\0';
}

/* Errors of a directory that somebody named wrongly; a full or broken file system is none of them. */
static bool wrong_directory(int error)
{
    static const int errors[] = {ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG, ENOSYS, EOPNOTSUPP};
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        if (errors[e] == error)
            return true;
    return false;
}

void make_place(const char *directory, char *place)
{
    make_place_for(MPI_COMM_WORLD, directory, place);
}

void make_place_for(MPI_Comm ranks, const char *directory, char *place)
{
    MPI_Request request;
    int number;
    MPI_Comm_rank(ranks, &number);
    signal(SIGXFSZ, SIG_IGN);       /* a file that grows beyond a limit is an error of write, with a sentence */
    snprintf(place, PATH_BYTES, "%s/shakedown-io-XXXXXX", directory);
    bool refused = false;
    if (number == 0 && !mkdtemp(place)) {
        refused = wrong_directory(errno);
        note_trouble("make a directory in", directory);
        *place = '\0';
    }
    if (number == 0) {
        memcpy(doomed, place, PATH_BYTES);
        job.before_failing = remove_doomed;
    }
    if (first_rank_with(refused) < job.ranks)
        remove_doomed();            /* what other ranks of this job could make */
    misuse_where(refused, "option '--directory': %s; name a directory that exists and that you may write to", trouble);
    MPI_Ibcast(place, PATH_BYTES, MPI_CHAR, 0, ranks, &request);
    settle(&request);
    struct stat found;
    if (*place && stat(place, &found) != 0)
        note_trouble("see on this node the directory that its first rank made,", place);
}

void remove_place(const char *place)
{
    sync_ranks();
    if (*place)
        remove_doomed();
}

/* ---- content ----------------------------------------------------------------------------------------------------------- */

static uint64_t stamp(int owner, uint64_t at)
{
    uint64_t x = at * 0x9e3779b97f4a7c15U + (uint64_t)owner * 0xbf58476d1ce4e5b9U + 1;
    x ^= x >> 29;
    return x * 0x94d049bb133111ebU;
}

static unsigned char filler(size_t at)
{
    return (unsigned char)(at * 7 + at / 256);
}

void fill_buffer(unsigned char *buffer, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++)
        buffer[at] = filler(at);
}

void stamp_buffer(unsigned char *buffer, size_t bytes, int owner, uint64_t at)
{
    for (size_t sector = 0; sector < bytes; sector += SECTOR) {
        uint64_t number = stamp(owner, at + sector);
        memcpy(buffer + sector, &number, sizeof number);
    }
}

bool stamps_right(const unsigned char *buffer, size_t bytes, int owner, uint64_t at)
{
    bool right = true;
    for (size_t sector = 0; sector < bytes; sector += SECTOR) {
        uint64_t number = stamp(owner, at + sector);
        right &= memcmp(buffer + sector, &number, sizeof number) == 0;
    }
    return right;
}

bool fillers_right(const unsigned char *buffer, size_t bytes)
{
    bool right = true;
    for (size_t at = 0; at < bytes; at++)
        right &= at % SECTOR < sizeof(uint64_t) || buffer[at] == filler(at);
    return right;
}

/* ---- system calls ------------------------------------------------------------------------------------------------------ */

bool write_whole(int handle, const unsigned char *buffer, size_t bytes, off_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t moved = pwrite(handle, buffer + done, bytes - done, offset + (off_t)done);
        if (moved < 0 && errno != EINTR)
            return false;
        done += moved > 0 ? (size_t)moved : 0;
    }
    return true;
}

bool read_whole(int handle, unsigned char *buffer, size_t bytes, off_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t moved = pread(handle, buffer + done, bytes - done, offset + (off_t)done);
        if (moved == 0)
            errno = ENODATA;        /* the file is shorter than what was written */
        if (moved == 0 || (moved < 0 && errno != EINTR))
            return false;
        done += moved > 0 ? (size_t)moved : 0;
    }
    return true;
}

bool create_file(const char *path)
{
    int handle = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return handle >= 0 && close(handle) == 0;
}

bool examine_file(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

bool remove_file(const char *path)
{
    return unlink(path) == 0;
}

void check_files(void)
{
    unsigned char buffer[2 * SECTOR];
    fill_buffer(buffer, sizeof buffer);
    stamp_buffer(buffer, sizeof buffer, 3, 4096);
    check(stamps_right(buffer, sizeof buffer, 3, 4096) && fillers_right(buffer, sizeof buffer), "written content is recognised");
    check(!stamps_right(buffer, sizeof buffer, 2, 4096), "another rank's content is refused");
    check(!stamps_right(buffer, sizeof buffer, 3, 0), "misplaced content is refused");
    buffer[SECTOR + 100] ^= 4;
    check(!fillers_right(buffer, sizeof buffer), "a single wrong bit is found");
}
