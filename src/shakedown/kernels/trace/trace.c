/* trace: what an MPI program does in MPI and in files. Preloaded (LD_PRELOAD) or linked before the MPI library; C, C++ and Fortran.
 *
 * It counts, for each rank: calls, bytes and time by MPI call; bytes and messages to each other rank; calls, bytes and time of the
 * file operations of the program itself; the growth of its memory; and when in the run the time in MPI fell. At MPI_Finalize rank 0
 * collects this from all ranks and writes JSON lines into the file that SHAKEDOWN_TRACE names, or shakedown-trace.jsonl; where that
 * is there already, into one with -2, -3 ... before the suffix.
 *
 * Bytes of a call are what this rank gives to it: of a send, put or get the message; of a collective what it contributes (its whole
 * send buffer; of a broadcast or scatter nothing but at the root). A receive counts calls and time: its bytes are its sender's.
 * A persistent or partitioned send and a persistent collective count when they are started. Operations on files count where the program opened the file after MPI_Init, outside of MPI.
 *
 * SHAKEDOWN_TRACE_WAITS=1 puts a barrier before each blocking collective and counts the time in it as wait. This changes when ranks
 * run; without it, the wait is estimated by whoever reads the file. SHAKEDOWN_TRACE_PEERS: how many others of a rank are listed.
 *
 * Fortran: a binding may call MPI_Send, which we stand in for, or PMPI_Send, which we do not see. So we stand in for the Fortran names,
 * too: what is outermost counts, and what is called inside of it only passes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* A shell that the library is preloaded into has no MPI library: data of it may be missing, functions are looked up when called. */
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_byte
#endif
extern char mpi_fortran_in_place_[] __attribute__((weak));     /* Open MPI's */
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak));         /* MPICH's */

#include "names.h"

enum call { LIST_OF_CALLS(AS_ID, AS_LARGE_ID) CALLS };
enum operation { OPEN, READ, WRITE, CLOSE, SYNC, OPERATIONS };

static const char *const call_names[] = {LIST_OF_CALLS(AS_NAME, AS_LARGE_NAME)};
static const char *const operation_names[] = {"open", "read", "write", "close", "sync"};

enum { BINS = 64, BLOCKS = 64, HOST_WORDS = 8, FILES = 65536, SENDERS_AHEAD = 32, TAG = 1, PATH_BYTES = 4096 };

struct counter { int64_t calls, bytes, ns, wait; };
struct memory { int64_t resident, peak; };      /* kB */
struct peer { uint64_t place; int rank, world; bool used; int64_t messages, bytes; };
struct persistent { uint64_t request; bool message; int world; int64_t bytes; };
struct words { int64_t *at; size_t count, room; };

static struct counter counters[CALLS], operations[OPERATIONS];
static struct { struct peer *at; size_t slots, used; } peers;
static struct { struct persistent *at; size_t count, room, next; } started;
static struct { int64_t ns[BINS]; int shift; } line = {.shift = 20};
static struct { bool counting, threaded, waits; uint64_t began; struct memory memory; long listed; } self = {.listed = 64};
static unsigned char opened[FILES];             /* by file handle: whether the program opened it */
static char path[PATH_BYTES];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;                     /* how many of our calls this thread is in */

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static void stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void stop(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    fputs("error: trace: ", stderr);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
    va_end(words);
    _exit(1);
}

static void *room(void *old, size_t bytes)
{
    void *block = realloc(old, bytes);
    if (!block)
        stop("there is no memory for %zu bytes", bytes);
    return block;
}

static void lock(void)
{
    if (self.threaded)
        pthread_mutex_lock(&guard);
}

static void unlock(void)
{
    if (self.threaded)
        pthread_mutex_unlock(&guard);
}

/* The kernel's words on the memory of this process, kB; 0 where it says nothing. */
static struct memory read_memory(void)
{
    struct memory memory = {0, 0};
    char text[128];
    inside++;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(text, sizeof text, file)) {
        sscanf(text, "VmHWM: %" SCNd64, &memory.peak);
        sscanf(text, "VmRSS: %" SCNd64, &memory.resident);
    }
    if (file)
        fclose(file);
    inside--;
    return memory;
}

/* ---- counting ---------------------------------------------------------------------------------------------------------- */

/* When a call that counts began; 0 for one that another of ours makes, and before MPI is there. */
static uint64_t enter(void)
{
    return inside++ || !self.counting ? 0 : now();
}

static void widen_line(void)
{
    for (int i = 0; i < BINS; i++)
        line.ns[i] = i < BINS / 2 ? line.ns[2 * i] + line.ns[2 * i + 1] : 0;
    line.shift++;
}

static void draw_line(uint64_t from, uint64_t to)
{
    while ((to - self.began) >> line.shift >= BINS)
        widen_line();
    for (uint64_t at = from; at < to;) {
        uint64_t bin = (at - self.began) >> line.shift, end = self.began + ((bin + 1) << line.shift);
        end = end < to ? end : to;
        line.ns[bin] += (int64_t)(end - at);
        at = end;
    }
}

static void record(enum call call, uint64_t began, uint64_t ended, int64_t bytes, int64_t wait)
{
    lock();
    struct counter *counter = &counters[call];
    counter->calls++;
    counter->bytes += bytes;
    counter->ns += (int64_t)(ended - began);
    counter->wait += wait;
    draw_line(began, ended);
    unlock();
}

#include "partners.h"

/* ---- bytes of a call ---------------------------------------------------------------------------------------------------- */

static int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count > 0)
        PMPI_Type_size_x(type, &size);
    return count > 0 ? count * size : 0;
}

/* Of the other group where there are two: those that a collective's blocks go to. */
static int members(MPI_Comm comm)
{
    int remote = 0, count;
    PMPI_Comm_test_inter(comm, &remote);
    if (remote)
        PMPI_Comm_remote_size(comm, &count);
    else
        PMPI_Comm_size(comm, &count);
    return count;
}

static bool is_root(int root, MPI_Comm comm)
{
    int remote = 0, rank;
    PMPI_Comm_test_inter(comm, &remote);
    PMPI_Comm_rank(comm, &rank);
    return remote ? root == MPI_ROOT : rank == root;
}

/* To how many neighbours a rank sends: on a grid to two along each axis, whether they are there or not, as its send buffer has room for. */
static int neighbours(MPI_Comm comm)
{
    int kind, rank, from, weighted, count = 0;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        return 2 * count;
    }
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_GRAPH)
        PMPI_Graph_neighbors_count(comm, rank, &count);
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(comm, &from, &count, &weighted);
    return count;
}

static int64_t bytes_of_each_in_fortran(const MPI_Fint *counts, const MPI_Fint *types, int partners)
{
    int64_t all = 0;
    for (int i = 0; i < partners; i++)
        all += bytes_of(counts[i], PMPI_Type_f2c(types[i]));
    return all;
}

static int own_rank(MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static bool in_place(const void *buffer)
{
    return buffer == (const void *)mpi_fortran_in_place_ ? buffer != NULL : &MPIR_F_MPI_IN_PLACE && buffer == MPIR_F_MPI_IN_PLACE;
}

static int64_t wait_for_all(MPI_Comm comm, uint64_t began)
{
    if (!began || !self.waits)
        return 0;
    PMPI_Barrier(comm);
    return (int64_t)(now() - began);
}

static void *next_of(const char *symbol)
{
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found)
        stop("there is no %s behind the tracer; preload it, or link it before the MPI library", symbol);
    return found;
}

/* Without MPI_Init, as in a shell, nothing is counted but files, and nothing is written. */

#include "calls.h"
#define OF(N) N
#define COUNT int
#define PLACE int
#include "counted.h"
#if LARGE_COUNTS
#undef OF
#undef COUNT
#undef PLACE
#undef IN_FORTRAN
#define OF(N) N##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define IN_FORTRAN(...)     /* Fortran has no names of its own for these: its bindings call those of C */
#include "counted.h"
#endif
#include "files.h"
#include "writing.h"

/* ---- beginning and end -------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    int level = MPI_THREAD_SINGLE;
    const char *waits = getenv("SHAKEDOWN_TRACE_WAITS"), *listed = getenv("SHAKEDOWN_TRACE_PEERS");
    PMPI_Query_thread(&level);
    self.threaded = level == MPI_THREAD_MULTIPLE;
    self.waits = waits && *waits && strcmp(waits, "0") != 0;
    if (listed && atol(listed) > 0)
        self.listed = atol(listed);
    self.memory = read_memory();
    self.began = now();
    self.counting = true;
}

int MPI_Init(int *count, char ***words)
{
    inside++;
    int status = PMPI_Init(count, words);
    if (!--inside && status == MPI_SUCCESS)
        begin();
    return status;
}

int MPI_Init_thread(int *count, char ***words, int wanted, int *level)
{
    inside++;
    int status = PMPI_Init_thread(count, words, wanted, level);
    if (!--inside && status == MPI_SUCCESS)
        begin();
    return status;
}

int MPI_Finalize(void)
{
    if (self.counting)
        write_trace();
    inside++;
    int status = PMPI_Finalize();
    inside--;
    return status;
}

#define PASSES(symbol, TAKES, GIVES, BEFORE, AFTER) \
    void symbol TAKES; \
    void symbol TAKES \
    { \
        static void (*next) TAKES; \
        if (!next) \
            *(void **)&next = next_of(#symbol); \
        BEFORE; \
        inside++; \
        next GIVES; \
        inside--; \
        AFTER; \
    }
#define BEGIN_IF_THERE \
    int there = 0; \
    PMPI_Initialized(&there); \
    if (there && !self.counting) \
    begin()
#define END_IF_COUNTING \
    if (self.counting) \
    write_trace()
#define IN_EACH_WAY(name, TAKES, GIVES, BEFORE, AFTER) \
    PASSES(mpi_##name##_, TAKES, GIVES, BEFORE, AFTER) \
    PASSES(mpi_##name##__, TAKES, GIVES, BEFORE, AFTER) \
    PASSES(mpi_##name, TAKES, GIVES, BEFORE, AFTER) \
    PASSES(mpi_##name##_f08_, TAKES, GIVES, BEFORE, AFTER)
IN_EACH_WAY(init, (void *a), (a), , BEGIN_IF_THERE)
IN_EACH_WAY(init_thread, (TAKES_3), (GIVES_3), , BEGIN_IF_THERE)
IN_EACH_WAY(finalize, (void *a), (a), END_IF_COUNTING, )

/* Where the program has another MPI than the one whose headers we were compiled with, its handles are not what we take them for. */
__attribute__((constructor)) static void load(void)
{
    const char *named = getenv("SHAKEDOWN_TRACE"), *file = named && *named ? named : "shakedown-trace.jsonl";
    bool open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"), any = open_mpi || dlsym(RTLD_DEFAULT, "PMPI_Init");
    size_t length = 0;
#ifdef OPEN_MPI
    const char *ours = "Open MPI", *theirs = "another MPI";
    bool same = open_mpi;
#else
    const char *ours = "MPICH or one like it", *theirs = "Open MPI";
    bool same = !open_mpi;
#endif
    if (any && !same)
        stop("it was built for %s, and this program has %s: build it with the mpicc of the program's MPI", ours, theirs);
    if (*file != '/' && getcwd(path, sizeof path)) {
        length = strlen(path);
        path[length++] = '/';
    }
    if (length + strlen(file) >= sizeof path)
        stop("the path of SHAKEDOWN_TRACE is longer than %d bytes", PATH_BYTES);
    strcpy(path + length, file);
}
