/* Makes the Nth call of one kind fail with an error number, in Python processes alone: the driver and its workers.
 *
 * INJECT=CALL:NTH:TIMES:ERRNO, for example write:7:3:28. Calls on files count where they are about files under INJECT_UNDER;
 * pipes and new processes always. Counting begins with the first such call of the process, and goes on in its children.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char call[32], under[4096];
static long nth, times, number, count;

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

static int fails(const char *name)
{
    if (call[0] == '\0' || strcmp(call, name) != 0)
        return 0;
    count++;
    if (count < nth || count >= nth + times)
        return 0;
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

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int open_as(const char *symbol, const char *path, int flags, mode_t mode)
{
    if ((is_there(path) || strncmp(path, "/proc/self/fd/", 14) == 0) && fails("open"))
        return -1;
    return REAL(int, symbol, const char *, int, ...)(path, flags, mode);
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
    return REAL(ssize_t, "write", int, const void *, size_t)(descriptor, data, size);
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
    if (is_file_there(descriptor) && fails("sync"))
        return -1;
    return REAL(int, "fdatasync", int)(descriptor);
}

int fsync(int descriptor)
{
    if (is_file_there(descriptor) && fails("sync"))
        return -1;
    return REAL(int, "fsync", int)(descriptor);
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

