/* What every kernel shares: its place in the job, options, records, the wall-time budget, fake nodes, and failing in a sentence.
 *
 * A kernel is one file. It defines `const struct kernel kernel`, which names its options, what it does and how it checks
 * itself; `main` is in job.c. Units: seconds, bytes, decimal megabytes (1 MB = 10^6 bytes). Only rank 0 writes records. */
#ifndef SHAKEDOWN_COMMON_H
#define SHAKEDOWN_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function that exists once, so that each call of it runs the same instructions. Clang never clones, and does not know the word. */
#if defined(__has_attribute)
#if __has_attribute(noclone)
#define ONE_COPY __attribute__((noinline, noclone))
#endif
#endif
#ifndef ONE_COPY
#define ONE_COPY __attribute__((noinline))
#endif

enum { NAME_BYTES = 128, MOST_CORES = 8192, CORES_TEXT_BYTES = 256 };

/* ---- the kernel -------------------------------------------------------------------------------------------------------- */

/* FLAG: bool. COUNT: long. SIZE: size_t, bytes, "4MiB" or "4MB". NUMBER: double. TEXT: const char *. */
enum kind { FLAG, COUNT, SIZE, NUMBER, TEXT };

struct option {
    const char *name;   /* "--repeats" */
    const char *word;   /* what stands for the value in --help; for TEXT with a fixed choice "a|b|c" */
    enum kind kind;
    void *value;        /* where the value goes; what is there before is the default */
    double least;       /* the smallest value allowed; for COUNT, SIZE and NUMBER */
    const char *help;
};

struct kernel {
    const char *name;
    const char *about;
    const struct option *options;   /* ends with an entry whose name is NULL */
    int (*run)(void);               /* the measurement; returns the exit status, 0 or 1 */
    int (*self_check)(void);        /* quick; may set options and call run; returns 0 or 1 */
};

extern const struct kernel kernel;

/* ---- the job (job.c) --------------------------------------------------------------------------------------------------- */

/* Bytes of this process: resident now, the most that were since the last restart_peak, and resident with each page that several
 * processes use divided among them. NaN where it cannot be read. */
struct footprint { double resident, peak, share; };

struct job {
    int rank, ranks;
    int node, nodes;                /* this rank's node, pretended with --fake-nodes, in order of first rank */
    int host_rank, host_ranks;      /* among the ranks of the same real host */
    int host;                       /* this rank's real host: the lowest rank on it */
    MPI_Comm node_comm, host_comm;
    char node_name[NAME_BYTES];
    char *node_names;               /* rank 0 only: `nodes` names of NAME_BYTES each */
    int *node_of;                   /* rank 0 only: the node of each rank */
    bool crowded;                   /* ranks of this host share cores: waiting must yield */
    bool stopped;                   /* the budget ended the work early, or a signal did */
    bool shortened;                 /* a measurement had fewer repeats than wanted, since its share of the budget was over */
    struct footprint at_start, after_init;      /* of this process, before and after MPI_Init */
    bool checking;                  /* --self-check */
    bool fault;                     /* --self-check-fault: spoil one result, to see that it is noticed */
    long fake_nodes;
    double budget, began;
    void (*before_failing)(void);   /* what `fail` must not leave behind; may be NULL */
};

extern struct job job;

/* End the whole job with a sentence on standard error. Never returns. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Wrong use found after the options were read; every rank must call it. Exit status 2. */
void misuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Wrong use that some ranks may find and others not; every rank must call it. The first that found it says it; all end with 2. */
void misuse_where(bool found, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Wrong use where a host has no `bytes` for each of its ranks; every rank must call it. */
void need_memory(double bytes, const char *what, const char *way_out);
/* A failure that every rank knows of: rank 0 says it. Returns 1, for `return failed(...)` in run. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A sentence on standard error from rank 0 that ends nothing. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In a self-check: fail with the sentence unless `held`; counts the checks. */
void check(bool held, const char *sentence);

/* Memory, aligned to 64 bytes, or a failure in a sentence; never NULL. */
void *memory(size_t bytes);

/* ---- time and waiting (wait.c) ----------------------------------------------------------------------------------------- */

double now(void);                   /* seconds of a clock that never goes back */
/* True, on every rank at once, when the budget is used up on any of them. Collective. Ask before each piece of work. */
bool budget_over(void);
double budget_left(void);           /* of this rank, seconds, may be negative */
void arm_watchdog(void);            /* ends a job that hangs well after its budget */
/* Wait for a request without taking the core from other ranks: an MPI library that spins needs 10 ms a barrier on full cores. */
void settle(MPI_Request *request);
/* Wait for all of them: in the library, which may spin, or so that the core is left to others, as `settle` does. */
void settle_all(MPI_Request *requests, int count, bool yielding);
void relax(void);                   /* inside a timed polling loop: yields only where ranks outnumber cores */
void sync_ranks(void);              /* barrier */
double all_sum(double value);
double all_max(double value);
double all_min(double value);
void all_largest(double *values, int count);        /* each of them over the ranks; negate one whose least is wanted */
int first_rank_with(bool here);     /* the lowest rank for which `here` is true; job.ranks if there is none */
/* Collect `count` doubles of every rank on rank 0, in order of rank; `into` may be NULL elsewhere. */
void gather_numbers(const double *from, int count, double *into);

/* ---- rounds (rounds.c): how often one of many measurements is repeated ---------------------------------------------------- */

struct rounds { long wanted, done, batch; double began, until; };

/* `left`: measurements that are still to be made, this one included; each gets an equal share of what is left of the budget. */
struct rounds share_budget(long wanted, long left);
/* Sets `batch` to how many repeats come next; false when `done` are enough or the time is over, then 0 or more are done. Collective. */
bool next_batch(struct rounds *rounds);
bool all_measured(void);            /* no measurement was left out or cut short */
void check_rounds(void);

/* ---- memory of processes and nodes (footprint.c) -------------------------------------------------------------------------- */

struct on_nodes { double min, mean, max; };

struct footprint read_footprint(void);
bool restart_peak(void);                    /* false where the operating system does not let us: then the peak is that of all the time */
struct on_nodes on_nodes(double value);     /* the sum over the ranks of each node; NaN where any is NaN; collective */
void check_footprint(void);

/* ---- spans (spans.c): how long many ranks took together ------------------------------------------------------------------ */

/* `entered` is before any rank starts, by this rank's clock; `began` is this rank's start; `ended` is yours to set. */
struct span { double entered, began, ended; };

/* Two barriers: no rank leaves before all have entered. A rate of many ranks is what all did over `job_seconds`. Collective. */
struct span start_together(void);
void node_seconds(const struct span *spans, long count, double *seconds);   /* of each span: from the node's first start to its last end */
void job_seconds(const struct span *spans, long count, double *seconds);    /* of all ranks */
const char *what_is_timed(void);            /* in words, for a record */
void check_spans(void);

/* ---- how a result ends (job.c) ------------------------------------------------------------------------------------------ */

void put_work(double flops, double seconds, long counted);  /* operations of all ranks in so many measurements, for SSP */
void end_result(void);                                      /* what is timed, and whether all was measured; closes the record */

/* ---- cores (cores.c) --------------------------------------------------------------------------------------------------- */

struct cores {
    unsigned char allowed[MOST_CORES];      /* 1 where this rank may run */
    int count;
    int sharers, share;     /* ranks of this host with the very same cores, and which of them this rank is */
};

void read_cores(struct cores *cores);                       /* collective over the host */
/* Whether ranks of this host with so many threads each must share cores; how many ranks and cores. Collective over the host. */
bool share_cores(long threads, int *ranks, int *count);
/* A note on standard error where they do on any host, with what this means for the numbers. Collective. */
void tell_crowd(long threads, const char *meaning);
void cores_text(const struct cores *cores, char *text);     /* "0-3,8", CORES_TEXT_BYTES */
int nth_core(const struct cores *cores, int n);
void bind_to(const struct cores *cores);                    /* this thread and those it will make */
int take_one_core(void);                                    /* ranks with the same cores take one each, in order of rank: which */
int numa_domains(void);                                     /* of this host; at least 1 */
bool keep_numa_domain(struct cores *cores, int domain);     /* leaves the cores of one domain; false where none is left */
int host_cores(void);                                       /* of this host, whoever may use them; at least 1 */
size_t last_level_cache_bytes(void);                        /* all of this host's, 0 when it cannot be read */
size_t host_memory_bytes(void);

/* ---- records (record.c): JSON lines, written by rank 0, flushed line by line -------------------------------------------- */

void open_record(const char *record);
void close_record(void);
void put_text(const char *key, const char *value);          /* key is NULL inside a list */
void put_number(const char *key, double value);             /* not a number and infinity become null */
void put_count(const char *key, long long value);
void put_flag(const char *key, bool value);
void open_object(const char *key);
void close_object(void);
void open_list(const char *key);
void close_list(void);
/* In a self-check, on rank 0: whether this was the number that was written last under the names, such as "latency.us", to nine digits. True on
 * other ranks. */
bool told(const char *path, double value);
double last_told(const char *path);     /* that number itself; NaN where there is none, as on other ranks */
void check_records(void);

/* ---- options (options.c) ----------------------------------------------------------------------------------------------- */

/* Reads the command line. Returns NULL, or a sentence that says what is wrong. */
const char *read_options(int argc, char **argv, const struct option *options, const struct option *shared);
void print_help(const struct option *options, const struct option *shared);
void put_options(const struct option *options);
bool read_size(const char *text, double *bytes);
bool chosen(const char *list, const char *item);            /* is item one of "a,b,c"? */
/* NULL, or a sentence naming the first item of the list `text` that is not one of "a|b|c" */
const char *unknown_choice(const char *text, const char *choices);
void check_options(void);

/* ---- numbers (numbers.c) ----------------------------------------------------------------------------------------------- */

struct spread { double min, median, mean, harmonic, max; long count; };

void sort_numbers(double *values, long count);
double percentile(const double *sorted, long count, double share);     /* nearest rank: the smallest value with >= share */
struct spread spread_of(double *values, long count);                   /* sorts; all NaN for count 0 */
void check_numbers(void);

#endif
