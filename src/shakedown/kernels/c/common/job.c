/* main of every kernel: find the ranks and nodes, read the options, run or check, and end with a status.
 *
 * Exit status: 0 done (the end record says whether it is complete), 1 a wrong result or a failure, 2 wrong use. */
#include "common.h"

#include <ctype.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

struct job job = {.budget = 60};

static bool help_wanted;
static long checks_held;

static const struct option shared[] = {
    {"--budget", "SECONDS", NUMBER, &job.budget, 0.001, "wall-time budget; when it is used up, what is there is reported as incomplete"},
    {"--fake-nodes", "K", COUNT, &job.fake_nodes, 1, "spread the ranks over K pretended nodes"},
    {"--self-check", "", FLAG, &job.checking, 0, "check the kernel's own arithmetic and results, quickly"},
    {"--self-check-fault", "", FLAG, &job.fault, 0, "spoil one result on purpose; the kernel must fail"},
    {"--help", "", FLAG, &help_wanted, 0, "show this"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static void find_place(void);
static void refuse_to_be_alone(void);
static void find_nodes(void);
static void agree_on_options(const char *wrong);
static void write_start(void);
static int check_everything(void);
static void write_end(int status);
static void leave(int status) __attribute__((noreturn));

int main(int argc, char **argv)
{
    int provided;
    job.began = now();
    job.at_start = read_footprint();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    job.after_init = read_footprint();
    find_place();
    agree_on_options(read_options(argc, argv, kernel.options, shared));
    if (help_wanted) {
        if (job.rank == 0)
            print_help(kernel.options, shared);
        leave(0);
    }
    refuse_to_be_alone();
    arm_watchdog();
    find_nodes();
    int ranks, cores;
    job.crowded = share_cores(1, &ranks, &cores);
    write_start();
    int status = job.checking ? check_everything() : kernel.run();
    status = (int)all_max(status);
    write_end(status);
    leave(status);
}

static void find_place(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(name, &length);
    snprintf(job.node_name, sizeof job.node_name, "%.100s", name);
}

static void leave(int status)
{
    MPI_Finalize();
    exit(status);
}

/* The rank that read a wrong option says so, the others keep quiet, and all of them end with status 2. */
static void agree_on_options(const char *wrong)
{
    int teller = first_rank_with(wrong != NULL);
    if (teller == job.rank)
        fprintf(stderr, "error: %s: %s\n", kernel.name, wrong);
    if (teller < job.ranks)
        leave(2);
}

/* How many ranks the launcher started, by its own variable: hydra's, Open MPI's, srun's for a step. 0: it does not say. */
static long started_ranks(void)
{
    const char *names[] = {"SHAKEDOWN_RANKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (int i = 0; i < 4; i++)
        if (getenv(names[i]))
            return strtol(getenv(names[i]), NULL, 10);
    return 0;
}

/* A launcher that does not belong to our MPI library starts N jobs of one rank, and each of them would measure something. */
static void refuse_to_be_alone(void)
{
    long started = started_ranks();
    if (job.ranks > 1 || started < 2)
        return;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    bool open = strstr(library, "Open MPI") != NULL;
    const char *number = getenv("SLURM_PROCID");
    if (!number || strcmp(number, "0") == 0)
        failed("%ld ranks were started alone, not as one job of %ld: its MPI is %s, so say 'mpi: %s' at the toolchain or "
               "in run.launch (srun --mpi=%s)",
               started, started, open ? "Open MPI" : "MPICH or one of its kind", open ? "openmpi" : "mpich", open ? "pmix" : "pmi2");
    leave(1);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------- */

struct name_of_rank { const char *name; int rank; };

static int by_name(const void *left, const void *right)
{
    const struct name_of_rank *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* On rank 0: number the names in the order of the first rank that has each. Returns how many differ. */
static int number_names(const char *names, int *number)
{
    struct name_of_rank *sorted = memory((size_t)job.ranks * sizeof *sorted);
    int *leader = memory((size_t)job.ranks * sizeof *leader), count = 0;
    for (int r = 0; r < job.ranks; r++)
        sorted[r] = (struct name_of_rank){names + (size_t)r * NAME_BYTES, r};
    qsort(sorted, (size_t)job.ranks, sizeof *sorted, by_name);
    for (int i = 0; i < job.ranks; i++) {
        bool same = i > 0 && strcmp(sorted[i].name, sorted[i - 1].name) == 0;
        leader[sorted[i].rank] = same ? leader[sorted[i - 1].rank] : sorted[i].rank;
    }
    for (int r = 0; r < job.ranks; r++)
        number[r] = leader[r] == r ? count++ : number[leader[r]];
    free(sorted);
    free(leader);
    return count;
}

/* The number of this rank's node among all nodes, from its name; on rank 0 also every rank's name and number. */
static int number_of_node(char *names, int *number)
{
    MPI_Request request;
    int mine;
    MPI_Igather(job.node_name, NAME_BYTES, MPI_CHAR, names, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    settle(&request);
    if (job.rank == 0)
        job.nodes = number_names(names, number);
    MPI_Iscatter(number, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    settle(&request);
    MPI_Ibcast(&job.nodes, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    settle(&request);
    return mine;
}

static void find_nodes(void)
{
    char *names = job.rank == 0 ? memory((size_t)job.ranks * NAME_BYTES) : NULL;
    int *number = job.rank == 0 ? memory((size_t)job.ranks * sizeof *number) : NULL;
    if (job.fake_nodes > job.ranks)
        misuse("option '--fake-nodes': %ld nodes need at least %ld ranks, this job has %d", job.fake_nodes, job.fake_nodes,
               job.ranks);
    job.node = number_of_node(names, number);
    MPI_Comm_split(MPI_COMM_WORLD, job.node, job.rank, &job.host_comm);
    MPI_Comm_rank(job.host_comm, &job.host_rank);
    MPI_Comm_size(job.host_comm, &job.host_ranks);
    job.host = job.rank;
    MPI_Bcast(&job.host, 1, MPI_INT, 0, job.host_comm);
    if (job.fake_nodes) {
        char host[NAME_BYTES];
        snprintf(host, sizeof host, "%.100s", job.node_name);
        snprintf(job.node_name, sizeof job.node_name, "%.100s#%ld", host, job.rank * job.fake_nodes / job.ranks);
        job.node = number_of_node(names, number);
    }
    MPI_Comm_split(MPI_COMM_WORLD, job.node, job.rank, &job.node_comm);
    for (int r = 0; names && r < job.ranks; r++)    /* a node's number is never above its first rank: no name is lost */
        memmove(names + (size_t)number[r] * NAME_BYTES, names + (size_t)r * NAME_BYTES, NAME_BYTES);
    job.node_names = names;
    job.node_of = number;
}

/* ---- records that every kernel writes ---------------------------------------------------------------------------------- */

static void write_start(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    for (char *c = version; *c; c++)        /* "MPICH Version:      5.0.2" has a run of blanks */
        while (isspace((unsigned char)c[0]) && isspace((unsigned char)c[1]))
            memmove(c, c + 1, strlen(c));
    open_record("start");
    put_text("kernel", kernel.name);
    put_count("ranks", job.ranks);
    put_count("nodes", job.nodes);
    open_list("hosts");
    for (int n = 0; job.rank == 0 && n < job.nodes; n++)
        put_text(NULL, job.node_names + (size_t)n * NAME_BYTES);
    close_list();
    put_flag("crowded", job.crowded);
    put_text("mpi", version);
    put_number("budget_s", job.budget);
    put_count("fake_nodes", job.fake_nodes);
    put_options(kernel.options);
    close_record();
}

static int check_everything(void)
{
    check_numbers();
    check_options();
    check_records();
    check_spans();
    check_rounds();
    check_footprint();
    check(first_rank_with(job.rank == job.ranks - 1) == job.ranks - 1, "the first rank that holds something is found");
    check(all_sum(job.rank) == job.ranks * (job.ranks - 1.0) / 2, "the sum over the ranks is right");
    int status = kernel.self_check();
    open_record("self-check");
    put_flag("passed", status == 0);
    put_count("checks", checks_held);
    close_record();
    return status;
}

void put_work(double flops, double seconds, long counted)
{
    put_number("flops", flops);
    put_number("seconds", seconds);
    put_count("counted", counted);
}

void end_result(void)
{
    put_text("timed", what_is_timed());
    put_flag("complete", all_measured());
    close_record();
}

static void write_end(int status)
{
    open_record("end");
    put_flag("complete", status == 0 && all_measured());
    if (!all_measured())
        put_text("reason", "the budget was used up or a signal came");
    put_number("elapsed_s", now() - job.began);
    close_record();
}

/* ---- failing in a sentence --------------------------------------------------------------------------------------------- */

void fail(const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fprintf(stderr, "error: %s: rank %d on %s: %s\n", kernel.name, job.rank, job.node_name, sentence);
    fflush(stderr);
    if (job.before_failing)
        job.before_failing();
    /* A launcher stops forwarding output when a rank aborts: the sentence gets a head start. */
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void say(const char *kind, const char *format, va_list arguments)
{
    if (job.rank != 0)
        return;
    fprintf(stderr, "%s: %s: ", kind, kernel.name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", format, arguments);
    va_end(arguments);
    leave(2);
}

void misuse_where(bool found, const char *format, ...)
{
    int teller = first_rank_with(found);
    if (teller == job.ranks)
        return;
    if (teller == job.rank) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "error: %s: ", kernel.name);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    leave(2);
}

void need_memory(double bytes, const char *what, const char *way_out)
{
    double there = (double)host_memory_bytes(), wanted = bytes * job.host_ranks;
    misuse_where(there > 0 && wanted > there, "%s in %d ranks need %.1f GB, and the host %s has %.1f GB; %s", what, job.host_ranks,
                 1e-9 * wanted, job.node_name, 1e-9 * there, way_out);
}

int failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", format, arguments);
    va_end(arguments);
    return 1;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("note", format, arguments);
    va_end(arguments);
}

void check(bool held, const char *sentence)
{
    if (!held)
        fail("self-check: it does not hold that %s", sentence);
    checks_held++;
}

void *memory(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, 64, bytes ? bytes : 64) != 0 || !block)
        fail("no memory for %.1f MB", (double)bytes / 1e6);
    return block;
}
