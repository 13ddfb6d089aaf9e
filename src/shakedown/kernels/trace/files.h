/* The file operations that the tracer stands in for. Part of trace.c.
 *
 * Only files that the program itself opened count, after MPI_Init and outside of MPI: its library has sockets and files of its own. Any thread may call
 * these, and a signal may come in between, so they count without a lock. */

static bool is_open(int file)
{
    return file >= 0 && file < FILES && __atomic_load_n(&opened[file], __ATOMIC_RELAXED);
}

static void set_open(int file, bool open)
{
    if (file >= 0 && file < FILES)
        __atomic_store_n(&opened[file], open, __ATOMIC_RELAXED);
}

static void count_operation(enum operation operation, uint64_t began, int64_t bytes)
{
    struct counter *counter = &operations[operation];
    __atomic_fetch_add(&counter->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counter->bytes, bytes > 0 ? bytes : 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counter->ns, (int64_t)(now() - began), __ATOMIC_RELAXED);
}

#define FIND(name) \
    static __typeof__(&name) real; \
    if (!real) \
        *(void **)&real = next_of(#name)

/* `errno` is the call's own when the program looks at it. */
#define TRANSFER(name, OPERATION, RETURNS, file, PARAMETERS, ARGUMENTS, BYTES) \
    RETURNS name PARAMETERS \
    { \
        FIND(name); \
        if (inside || !is_open(file)) \
            return real ARGUMENTS; \
        uint64_t began = now(); \
        inside++; \
        RETURNS done = real ARGUMENTS; \
        inside--; \
        int trouble = errno; \
        count_operation(OPERATION, began, (int64_t)(BYTES)); \
        errno = trouble; \
        return done; \
    }

TRANSFER(read, READ, ssize_t, file, (int file, void *buffer, size_t bytes), (file, buffer, bytes), done)
TRANSFER(write, WRITE, ssize_t, file, (int file, const void *buffer, size_t bytes), (file, buffer, bytes), done)
TRANSFER(pread, READ, ssize_t, file, (int file, void *buffer, size_t bytes, off_t at), (file, buffer, bytes, at), done)
TRANSFER(pread64, READ, ssize_t, file, (int file, void *buffer, size_t bytes, off64_t at), (file, buffer, bytes, at), done)
TRANSFER(pwrite, WRITE, ssize_t, file, (int file, const void *buffer, size_t bytes, off_t at), (file, buffer, bytes, at), done)
TRANSFER(pwrite64, WRITE, ssize_t, file, (int file, const void *buffer, size_t bytes, off64_t at), (file, buffer, bytes, at), done)
TRANSFER(readv, READ, ssize_t, file, (int file, const struct iovec *parts, int count), (file, parts, count), done)
TRANSFER(writev, WRITE, ssize_t, file, (int file, const struct iovec *parts, int count), (file, parts, count), done)
TRANSFER(fsync, SYNC, int, file, (int file), (file), 0)
TRANSFER(fdatasync, SYNC, int, file, (int file), (file), 0)
TRANSFER(fread, READ, size_t, fileno(stream), (void *buffer, size_t size, size_t count, FILE *stream), (buffer, size, count, stream), size * done)
TRANSFER(fwrite, WRITE, size_t, fileno(stream), (const void *buffer, size_t size, size_t count, FILE *stream), (buffer, size, count, stream), size * done)

/* Programs that were compiled with checks of their buffers call these. */
ssize_t __read_chk(int file, void *buffer, size_t bytes, size_t most);
size_t __fread_chk(void *buffer, size_t most, size_t size, size_t count, FILE *stream);
TRANSFER(__read_chk, READ, ssize_t, file, (int file, void *buffer, size_t bytes, size_t most), (file, buffer, bytes, most), done)
TRANSFER(__fread_chk, READ, size_t, fileno(stream), (void *buffer, size_t most, size_t size, size_t count, FILE *stream),
         (buffer, most, size, count, stream), size * done)

#define CLOSING(name, PARAMETERS, ARGUMENTS, file_) \
    int name PARAMETERS \
    { \
        FIND(name); \
        int file = file_; \
        bool counts = !inside && is_open(file); \
        uint64_t began = counts ? now() : 0; \
        set_open(file, false); \
        inside++; \
        int done = real ARGUMENTS, trouble = errno; \
        inside--; \
        if (counts) \
            count_operation(CLOSE, began, 0); \
        errno = trouble; \
        return done; \
    }

CLOSING(close, (int handle), (handle), handle)
CLOSING(fclose, (FILE *stream), (stream), stream ? fileno(stream) : -1)

#define OPENING(name, RETURNS, PARAMETERS, ARGUMENTS, FILE_OF, BEFORE) \
    RETURNS name PARAMETERS \
    { \
        FIND(name); \
        BEFORE \
        uint64_t began = enter(); \
        RETURNS done = real ARGUMENTS; \
        int trouble = errno; \
        inside--; \
        if (began) { \
            set_open(FILE_OF, true); \
            count_operation(OPEN, began, 0); \
        } \
        errno = trouble; \
        return done; \
    }

/* The mode is there only where a file may be made. */
#define MODE \
    va_list more; \
    va_start(more, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; \
    va_end(more);

OPENING(open, int, (const char *name, int flags, ...), (name, flags, mode), done, MODE)
OPENING(open64, int, (const char *name, int flags, ...), (name, flags, mode), done, MODE)
OPENING(openat, int, (int folder, const char *name, int flags, ...), (folder, name, flags, mode), done, MODE)
OPENING(openat64, int, (int folder, const char *name, int flags, ...), (folder, name, flags, mode), done, MODE)
OPENING(creat, int, (const char *name, mode_t mode), (name, mode), done, )
OPENING(creat64, int, (const char *name, mode_t mode), (name, mode), done, )
OPENING(fopen, FILE *, (const char *name, const char *mode), (name, mode), done ? fileno(done) : -1, )
OPENING(fopen64, FILE *, (const char *name, const char *mode), (name, mode), done ? fileno(done) : -1, )
int __open_2(const char *name, int flags);
int __open64_2(const char *name, int flags);
OPENING(__open_2, int, (const char *name, int flags), (name, flags), done, )
OPENING(__open64_2, int, (const char *name, int flags), (name, flags), done, )
