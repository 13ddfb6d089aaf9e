/* Makes the Nth call of one kind fail with an error number, in Python processes alone: the driver and its workers.
 *
 * INJECT=CALL:NTH:TIMES:ERRNO, for example write:7:3:28. Calls on files count where they are about files under INJECT_UNDER;
 * pipes and new processes always. Counting begins with the first such call of the process, and goes on in its children.
 *
 * half: the Nth write takes half of its bytes, and those after it fail. lost: a sync fails, and what was written since the one before
 * it is zeros from then on, as after a disk that dropped it; the next sync succeeds. close: the file is closed, and the error is told.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static char call[32], under[4096];
static long nth, times, number, count;

#define DESCRIPTORS 4096
static off64_t synced[DESCRIPTORS]; /* how much of a file was there when it was opened or last synced */

__attribute__((constructor)) static void begin(void)
{
    char self[4096] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *wish = getenv("INJECT"), *place = getenv("INJECT_UNDER");
    const char *name = length > 0 ? strrchr(self, '/') : NULL;

    if (name == NULL || strncmp(name, "/python", 7) != 0 || wish == NULL || place == NULL)
        return;
    if (sscanf(wish, "%31[^:]:%ld:%ld:%ld", call, &nth, &times, &number) != 4)
        call[0] = '\0';
    snprintf(under, sizeof under, "%s", place);
}

/* A process that was forked and goes on as a command reads its own wish. */
void inject_anew(void)
{
    call[0] = '\0';
    count = 0;
    begin();
}

/* INJECT_TOLD names a file with a line for each call that failed: whether a trial met its error at all. */
static void tell(const char *name)
{
    const char *path = getenv("INJECT_TOLD");
    int file = path != NULL ? REAL(int, "open64", const char *, int, ...)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

    if (file < 0)
        return;
    if (dprintf(file, "%s %ld\n", name, count) < 0)
        abort();
    (void)REAL(int, "close", int)(file);
}

static int fails(const char *name)
{
    if (call[0] == '\0' || strcmp(call, name) != 0)
        return 0;
    count++;
    if (count < nth || count >= nth + times)
        return 0;
    tell(name);
    errno = (int)number;
    return 1;
}

static int is_there(const char *path)
{
    return path != NULL && strncmp(path, under, strlen(under)) == 0;
}

static int is_file_there(int descriptor)
{
    char link[64], path[4096];
    ssize_t length;

    if (call[0] == '\0')
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return is_there(path);
}

static off64_t size_of(int descriptor)
{
    struct stat64 found;

    return REAL(int, "fstat64", int, struct stat64 *)(descriptor, &found) == 0 ? found.st_size : 0;
}

static int open_as(const char *symbol, const char *path, int flags, mode_t mode)
{
    int descriptor;

    if ((is_there(path) || strncmp(path, "/proc/self/fd/", 14) == 0) && fails("open"))
        return -1;
    descriptor = REAL(int, symbol, const char *, int, ...)(path, flags, mode);
    if (strcmp(call, "lost") == 0 && descriptor >= 0 && descriptor < DESCRIPTORS)
        synced[descriptor] = size_of(descriptor);
    return descriptor;
}

/* What the disk dropped is zeros. The file may be open for appending alone: it is opened once more. */
static void lose(int descriptor)
{
    static const char nothing[4096];
    off64_t at = synced[descriptor], end = size_of(descriptor);
    char link[64];
    int again;

    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    again = REAL(int, "open64", const char *, int, ...)(link, O_WRONLY | O_CLOEXEC);
    while (again >= 0 && at < end) {
        size_t piece = end - at < (off64_t)sizeof nothing ? (size_t)(end - at) : sizeof nothing;
        ssize_t done = REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)(again, nothing, piece, at);

        if (done <= 0)
            break;
        at += done;
    }
    if (again >= 0)
        REAL(int, "close", int)(again);
}

static int sync_as(const char *symbol, int descriptor)
{
    int there = is_file_there(descriptor), status;

    if (there && fails("sync"))
        return -1;
    if (there && descriptor < DESCRIPTORS && fails("lost")) {
        lose(descriptor);
        errno = (int)number;
        return -1;
    }
    status = REAL(int, symbol, int)(descriptor);
    if (strcmp(call, "lost") == 0 && status == 0 && descriptor < DESCRIPTORS)
        synced[descriptor] = size_of(descriptor);
    return status;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_as("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_as("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void *data, size_t size)
{
    if (strcmp(call, "write") == 0 && is_file_there(descriptor) && fails("write"))
        return -1;
    if (strcmp(call, "half") == 0 && size > 1 && is_file_there(descriptor) && fails("half")) {
        if (count > nth)
            return -1;
        size /= 2;
    }
    return REAL(ssize_t, "write", int, const void *, size_t)(descriptor, data, size);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset)
{
    if (strcmp(call, "pwrite") == 0 && is_file_there(descriptor) && fails("pwrite"))
        return -1;
    return REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)(descriptor, data, size, offset);
}

ssize_t read(int descriptor, void *data, size_t size)
{
    if (strcmp(call, "read") == 0 && is_file_there(descriptor) && fails("read"))
        return -1;
    return REAL(ssize_t, "read", int, void *, size_t)(descriptor, data, size);
}

ssize_t pread64(int descriptor, void *data, size_t size, off64_t offset)
{
    if (strcmp(call, "read") == 0 && is_file_there(descriptor) && fails("read"))
        return -1;
    return REAL(ssize_t, "pread64", int, void *, size_t, off64_t)(descriptor, data, size, offset);
}

int fdatasync(int descriptor)
{
    return sync_as("fdatasync", descriptor);
}

int fsync(int descriptor)
{
    return sync_as("fsync", descriptor);
}

int close(int descriptor)
{
    int told = strcmp(call, "close") == 0 && is_file_there(descriptor) && fails("close");
    int status = REAL(int, "close", int)(descriptor);

    if (told)
        errno = (int)number;
    return told ? -1 : status;
}

int flock(int descriptor, int operation)
{
    if (is_file_there(descriptor) && fails("lock"))
        return -1;
    return REAL(int, "flock", int, int)(descriptor, operation);
}

int link(const char *from, const char *to)
{
    if (is_there(to) && fails("link"))
        return -1;
    return REAL(int, "link", const char *, const char *)(from, to);
}

int utimensat(int folder, const char *path, const struct timespec moments[2], int flags)
{
    if (is_there(path) && fails("touch"))
        return -1;
    return REAL(int, "utimensat", int, const char *, const struct timespec *, int)(folder, path, moments, flags);
}

int rename(const char *from, const char *to)
{
    if (is_there(to) && fails("rename"))
        return -1;
    return REAL(int, "rename", const char *, const char *)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    if (is_there(path) && fails("mkdir"))
        return -1;
    return REAL(int, "mkdir", const char *, mode_t)(path, mode);
}

int unlink(const char *path)
{
    if (is_there(path) && fails("unlink"))
        return -1;
    return REAL(int, "unlink", const char *)(path);
}

int ftruncate64(int descriptor, off64_t size)
{
    if (is_file_there(descriptor) && fails("truncate"))
        return -1;
    return REAL(int, "ftruncate64", int, off64_t)(descriptor, size);
}

int stat64(const char *path, struct stat64 *found)
{
    if (is_there(path) && fails("stat"))
        return -1;
    return REAL(int, "stat64", const char *, struct stat64 *)(path, found);
}

int lstat64(const char *path, struct stat64 *found)
{
    if (is_there(path) && fails("stat"))
        return -1;
    return REAL(int, "lstat64", const char *, struct stat64 *)(path, found);
}

int fstat64(int descriptor, struct stat64 *found)
{
    if (strcmp(call, "stat") == 0 && is_file_there(descriptor) && fails("stat"))
        return -1;
    return REAL(int, "fstat64", int, struct stat64 *)(descriptor, found);
}

DIR *opendir(const char *path)
{
    if (is_there(path) && fails("list"))
        return NULL;
    return REAL(DIR *, "opendir", const char *)(path);
}

int pipe2(int pair[2], int flags)
{
    if (fails("pipe"))
        return -1;
    return REAL(int, "pipe2", int *, int)(pair, flags);
}

int pipe(int pair[2])
{
    if (fails("pipe"))
        return -1;
    return REAL(int, "pipe", int *)(pair);
}

pid_t fork(void)
{
    if (fails("fork"))
        return -1;
    return REAL(pid_t, "fork", void)();
}

struct dirent64 *readdir64(DIR *folder)
{
    if (strcmp(call, "entry") == 0 && is_file_there(dirfd(folder)) && fails("entry"))
        return NULL;
    return REAL(struct dirent64 *, "readdir64", DIR *)(folder);
}

int posix_spawn(pid_t *restrict child, const char *restrict path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *restrict attributes, char *const arguments[restrict], char *const environment[restrict])
{
    if (fails("spawn"))
        return (int)number;
    return REAL(int, "posix_spawn", pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                char *const *, char *const *)(child, path, actions, attributes, arguments, environment);
}

/* A process can be watched by a call that the C library may have no function of. */
long syscall(long what, ...)
{
    long words[6];
    va_list rest;

    va_start(rest, what);
    for (int at = 0; at < 6; at++)
        words[at] = va_arg(rest, long);
    va_end(rest);
    if (what == SYS_pidfd_open && fails("watch"))
        return -1;
    return REAL(long, "syscall", long, ...)(what, words[0], words[1], words[2], words[3], words[4], words[5]);
}
