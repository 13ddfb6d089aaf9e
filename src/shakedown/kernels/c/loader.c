/* loader: how long all ranks take to load many shared libraries and Python modules, and to call what is in them, by the idea of Pynamic.
 *
 * The libraries are made and compiled once, with the kernel (loader.awk), and lie inside the program. One rank writes them into the
 * directory, or one of each node into the node's own. Then each rank opens all of them (load), and calls every function in them (visit):
 * with lazy binding the loader finds a symbol at its first call. The first time, files come from the storage as far as the system lets us
 * ask for that; then all libraries are closed, and loaded again from memory. Python modules of as many functions are imported and called
 * by an interpreter that each rank starts. Sums, calls and symbols are held against what the libraries are known to have.
 *
 * Times are of a rank from its own start to its own end, and of the job from the first start to the last end. 1 MB = 10^6 bytes. */
#include "common.h"
#include "files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *directory = ".", *binding = "lazy", *python = "python3";
static long libraries, modules = 32, repeats = 3;
static bool each_node;

static const struct option options[] = {
    {"--directory", "PATH", TEXT, &directory, 0, "in which the libraries and modules are written, and removed again"},
    {"--each-node", "", FLAG, &each_node, 0, "the directory is of each node alone: one rank of each writes them there"},
    {"--libraries", "N", COUNT, &libraries, 0, "of those that were built into this program; 0 for all"},
    {"--binding", "lazy|now", TEXT, &binding, 0, "whether symbols are found at the first call, or all when a library is loaded"},
    {"--modules", "N", COUNT, &modules, 0, "Python modules; 0 for none"},
    {"--python", "PROGRAM", TEXT, &python, 0, "what imports the modules"},
    {"--repeats", "N", COUNT, &repeats, 1, "how often everything is loaded; the first time is told apart"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "loader", "Time to load many shared libraries and Python modules by all ranks, and to call every function in them; symbols, calls, bytes.", options,
    run, self_check};

/* What loader.awk made: a line of text with their number and their functions, a line with the bytes of each, and the libraries. */
__asm__(".pushsection .rodata,\"a\"\n"
        ".global shakedown_loader_begin, shakedown_loader_end\n"
        ".balign 16\nshakedown_loader_begin:\n.incbin \"loader.libraries\"\nshakedown_loader_end:\n.byte 0\n"
        ".popsection\n");
extern const unsigned char shakedown_loader_begin[], shakedown_loader_end[];

enum { CHAIN = 10, MOST_LIBRARIES = 9999, LINE = 256 };
enum { LOAD, VISIT, START, IMPORT, CALL, TIMES };      /* the last three are of Python */

struct built { long count, functions; const unsigned char **content; size_t *bytes; };

/* Seconds: from the first start to the last end, and those of the ranks by themselves. */
struct times { double job, fastest, mean, slowest; };

/* One loading of everything, over all ranks. */
struct pass { struct times of[TIMES]; double own_load, at_load, by_visit, calls, storage_bytes, major_faults; bool libraries, modules; };

static char place[PATH_BYTES];      /* where this rank finds the libraries */
static struct built built;
static void **handles;
static bool with_modules, unloads;

static void read_built(void);
static void write_files(void);
static void prepare_modules(void);
static void load_all(struct pass *pass);
static void import_all(struct pass *pass);
static void forget_files(void);
static void report(const struct pass *first, const struct pass *again, long more, double written, const double *of_nodes);
static void add(struct pass *sum, const struct pass *pass);
static void write_pass(long number, const struct pass *pass);
static double *slowest_of_nodes(double seconds);

static int run(void)
{
    if (!built.content)
        read_built();
    if (!*directory || strlen(directory) > PATH_BYTES - 200)
        misuse("option '--directory': the path is %s", *directory ? "too long" : "empty");
    if (libraries > built.count)
        misuse("option '--libraries': %ld is too many; this program has %ld: build it with more (make LOADER_LIBRARIES=%ld loader)", libraries, built.count, libraries);
    if (modules > MOST_LIBRARIES)
        misuse("option '--modules': %ld is too many; the most is %d", modules, MOST_LIBRARIES);
    libraries = libraries ? libraries : built.count;
    tell_crowd(1, "they take turns; a time is that of the crowd");
    struct pass first = {0}, again = {0};
    long done = 0;
    double began, *of_nodes = NULL;
    handles = memory((size_t)libraries * sizeof *handles);
    make_place_for(each_node ? job.node_comm : MPI_COMM_WORLD, directory, place);
    began = now();
    if (!troubled())
        write_files();
    double written = all_max(now() - began);
    with_modules = modules > 0;
    if (!troubled() && with_modules)
        prepare_modules();
    unloads = true;
    for (; done < repeats && unloads && !troubled() && !budget_over(); done++) {
        struct pass pass = {0};
        if (done == 0)
            forget_files();
        load_all(&pass);
        if (pass.libraries && done == 0)
            of_nodes = slowest_of_nodes(pass.own_load);
        if (pass.libraries && with_modules)
            import_all(&pass);
        if (!pass.libraries || pass.modules != with_modules)
            break;
        write_pass(done, &pass);
        if (done == 0)
            first = pass;
        else
            add(&again, &pass);
    }
    remove_place(place);
    free(handles);
    bool trouble = troubled();
    if (!trouble && !done)
        failed("the budget of %g s ended before everything was loaded once; give more --budget, or fewer --libraries or --modules", job.budget);
    if (!trouble && done) {
        if (!unloads)
            warn("this C library keeps libraries that were closed: they were loaded once");
        job.shortened |= unloads && done < repeats;
        report(&first, &again, done - 1, written, of_nodes);
    }
    free(of_nodes);
    free(built.content);
    free(built.bytes);
    built.content = NULL;
    return trouble ? tell_trouble() : !done;
}

/* ---- what the libraries have ------------------------------------------------------------------------------------------- */

static void read_built(void)
{
    const char *text = (const char *)shakedown_loader_begin;
    int length;
    if (sscanf(text, "shakedown-loader %ld %ld%n", &built.count, &built.functions, &length) != 2 || built.count < 1 || built.count > MOST_LIBRARIES ||
        built.functions < CHAIN || built.functions % CHAIN)
        misuse("it was built with wrong numbers: LOADER_LIBRARIES is 1 to %d, LOADER_FUNCTIONS a multiple of %d", MOST_LIBRARIES, CHAIN);
    built.content = memory((size_t)built.count * sizeof *built.content);
    built.bytes = memory((size_t)built.count * sizeof *built.bytes);
    text += length;
    for (long k = 0; k < built.count; k++) {
        char *end;
        built.bytes[k] = strtoul(text, &end, 10);
        text = end;
    }
    const unsigned char *content = (const unsigned char *)text + 1;
    for (long k = 0; k < built.count; content += built.bytes[k++])
        built.content[k] = content;
    if (content != shakedown_loader_end)
        misuse("the libraries in this program are damaged; build it anew");
}

/* What a function adds to the sum. */
static long number_of(long library, long function)
{
    return (library * 7919 + function * 104729) % 1009;
}

static long last_of_chain(long chain)
{
    return CHAIN * (chain % (built.functions / CHAIN)) + CHAIN - 1;
}

/* Of the libraries before this one, those that it calls: the one before, and the one with half of its number. */
static int called_by(long library)
{
    return (library > 0) + (library > 2);
}

static long calls_of(long library)
{
    return 1 + built.functions / CHAIN * (CHAIN + called_by(library));
}

/* Its own functions, and the last ones of all chains of the libraries that it calls. */
static long symbols_of(long library)
{
    return built.functions + built.functions / CHAIN * called_by(library);
}

static long sum_of(long library)
{
    long sum = 0;
    for (long f = 0; f < built.functions; f++)
        sum += number_of(library, f);
    for (long chain = 0; chain < built.functions / CHAIN; chain++) {
        sum += library > 0 ? number_of(library - 1, last_of_chain(chain + library)) : 0;
        sum += library > 2 ? number_of(library / 2, last_of_chain(chain + 2 * library)) : 0;
    }
    return sum;
}

/* ---- writing them ------------------------------------------------------------------------------------------------------ */

static bool writes(void)
{
    int number;
    MPI_Comm_rank(each_node ? job.node_comm : MPI_COMM_WORLD, &number);
    return number == 0;
}

static const char *path_of(long library)
{
    static char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/libshakedown%04ld.so", place, library);
    return path;
}

static void write_library(long k)
{
    int handle = open(path_of(k), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool written = handle >= 0 && write_whole(handle, built.content[k], built.bytes[k], 0) && fsync(handle) == 0;
    if (!written || close(handle) != 0)
        note_trouble("write", path_of(k));
}

static void write_module(FILE *file, long k)
{
    if (k > 0)
        fprintf(file, "import shakedown_m%04ld as before\n", k - 1);
    if (k > 2)
        fprintf(file, "import shakedown_m%04ld as half\n", k / 2);
    for (long f = 0; f < built.functions; f++) {
        fprintf(file, "def f%ld(calls):\n    calls[0] += 1\n    return %ld", f, number_of(k, f));
        if (f % CHAIN < CHAIN - 1)
            fprintf(file, " + f%ld(calls)", f + 1);
        if (f % CHAIN == CHAIN - 2 && k > 0)
            fprintf(file, " + before.f%ld(calls)", last_of_chain(f / CHAIN + k));
        if (f % CHAIN == CHAIN - 2 && k > 2)
            fprintf(file, " + half.f%ld(calls)", last_of_chain(f / CHAIN + 2 * k));
        fputc('\n', file);
    }
    fprintf(file, "def enter(calls):\n    calls[0] += 1\n    sum = 0\n");
    for (long f = 0; f < built.functions; f += CHAIN)
        fprintf(file, "    sum += f%ld(calls)\n", f);
    fprintf(file, "    return sum\n");
}

static const char driver[] = "import sys, time\n"
                             "began = time.perf_counter()\n"
                             "modules = [__import__('shakedown_m%04d' % k) for k in range(int(sys.argv[1]))]\n"
                             "loaded = time.perf_counter()\n"
                             "calls = [0]\n"
                             "sums = sum([module.enter(calls) for module in modules])\n"
                             "print(loaded - began, time.perf_counter() - loaded, sums, calls[0])\n";

/* Module `k`, or the program that imports them all where it is -1. */
static void write_python(long k)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, k < 0 ? "%s/driver.py" : "%s/shakedown_m%04ld.py", place, k);
    FILE *file = fopen(path, "wx");
    if (file && k < 0)
        fputs(driver, file);
    else if (file)
        write_module(file, k);
    bool written = file && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if ((file && fclose(file) != 0) || !written)
        note_trouble("write", path);
}

static void write_files(void)
{
    for (long k = 0; writes() && k < libraries && !troubled_here(); k++)
        write_library(k);
    for (long k = -1; writes() && k < modules && !troubled_here(); k++)
        write_python(k);
}

static int forget_one(const char *path, const struct stat *found, int kind, struct FTW *walk)
{
    (void)found;
    (void)walk;
    int handle = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (handle < 0)
        return 0;
    fsync(handle);      /* only what was written can be forgotten: Python leaves that to the system */
    posix_fadvise(handle, 0, 0, POSIX_FADV_DONTNEED);
    close(handle);
    return 0;
}

/* Ask each node to forget the files, so that they come from the storage. */
static void forget_files(void)
{
    int number;
    MPI_Comm_rank(job.node_comm, &number);
    sync_ranks();
    if (number == 0)
        nftw(place, forget_one, 16, FTW_PHYS);
    sync_ranks();
}

/* ---- loading and calling them ------------------------------------------------------------------------------------------ */

struct counters { double storage_bytes, major_faults; };

/* Of this process since it began; what was read from storage is NaN where it cannot be told. */
static struct counters read_counters(void)
{
    struct counters counters = {NAN, NAN};
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        counters.major_faults = (double)used.ru_majflt;
    FILE *file = fopen("/proc/self/io", "re");
    char line[LINE];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "read_bytes: ", 12) == 0)
            counters.storage_bytes = strtod(line + 12, NULL);
    if (file)
        fclose(file);
    return counters;
}

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

/* In a library's own list an address may be one already, or still count from where the library begins. */
static const char *placed(const struct link_map *map, ElfW(Addr) address)
{
    return (const char *)(address < map->l_addr ? address + map->l_addr : address);
}

/* How many places of calls that the loader fills a library has, and how many of them lead to the function whose name they have. */
static long count_symbols(void *handle, long *places)
{
    struct link_map *map;
    const char *entries = NULL, *names = NULL;
    const ElfW(Sym) *symbols = NULL;
    size_t bytes = 0, entry = sizeof(ElfW(Rela));
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return 0;
    for (const ElfW(Dyn) *item = map->l_ld; item->d_tag != DT_NULL; item++) {
        if (item->d_tag == DT_JMPREL)
            entries = placed(map, item->d_un.d_ptr);
        else if (item->d_tag == DT_PLTRELSZ)
            bytes = item->d_un.d_val;
        else if (item->d_tag == DT_PLTREL)
            entry = item->d_un.d_val == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
        else if (item->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)(const void *)placed(map, item->d_un.d_ptr);
        else if (item->d_tag == DT_STRTAB)
            names = placed(map, item->d_un.d_ptr);
    }
    long found = 0;
    for (size_t at = 0; entries && symbols && names && at < bytes; at += entry) {
        const ElfW(Rel) *one = (const ElfW(Rel) *)(const void *)(entries + at);       /* both kinds begin alike */
        void *target;
        memcpy(&target, (const char *)map->l_addr + one->r_offset, sizeof target);
        found += target == dlsym(handle, names + symbols[SYMBOL_OF(one->r_info)].st_name);
        ++*places;
    }
    return found;
}

static double count_all(double *places)
{
    long found = 0, there = 0;
    for (long k = 0; k < libraries; k++)
        found += count_symbols(handles[k], &there);
    *places = (double)there;
    return (double)found;
}

static struct times over_ranks(struct span span)
{
    double own = span.ended - span.began;
    struct times times = {0, all_min(own), all_sum(own) / job.ranks, all_max(own)};
    job_seconds(&span, 1, &times.job);
    return times;
}

static long open_all(int how)
{
    for (long k = 0; k < libraries; k++) {
        if (budget_left() <= 0)
            return k;
        handles[k] = dlopen(path_of(k), how | RTLD_LOCAL);
        if (!handles[k]) {
            note_sentence("cannot load a library: %.350s", dlerror());
            return k;
        }
    }
    return libraries;
}

static void hold(const char *what, long number, long sum, long calls, long right_sum, long right_calls)
{
    if (sum != right_sum)
        note_sentence("%s %ld: its calls gave the sum %ld, and must give %ld", what, number, sum, right_sum);
    else if (calls != right_calls)
        note_sentence("%s %ld: it made %ld calls, and must make %ld", what, number, calls, right_calls);
}

/* Calls all functions of each library. Calls that were made. */
static long visit_all(void)
{
    long all = 0;
    for (long k = 0; k < libraries && !troubled_here(); k++) {
        char name[64];
        long calls = 0, (*enter)(long *) = NULL;
        snprintf(name, sizeof name, "shakedown_loader_%04ld_enter", k);
        void *found = dlsym(handles[k], name);
        memcpy(&enter, &found, sizeof enter);
        if (!enter) {
            note_sentence("cannot find a symbol: %.350s", dlerror());
            break;
        }
        long sum = enter(&calls) + (job.fault && job.rank == job.ranks - 1 && k == 0);
        hold("library", k, sum, calls, sum_of(k), calls_of(k));
        all += calls;
    }
    return all;
}

static void close_all(long count)
{
    for (long k = count - 1; k >= 0; k--)
        dlclose(handles[k]);
    for (long k = 0; k < count; k++) {
        void *kept = dlopen(path_of(k), RTLD_LAZY | RTLD_NOLOAD);
        unloads &= !kept;
        if (kept)
            dlclose(kept);
    }
    unloads = all_min(unloads) > 0;
}

/* A linker may bind a library's own functions; those of other libraries it cannot. */
static void check_pass(const struct pass *pass, double places)
{
    double calls = 0, most = 0, least = 0;
    for (long k = 0; k < libraries; k++) {
        calls += (double)calls_of(k);
        most += (double)symbols_of(k);
        least += (double)(symbols_of(k) - built.functions);
    }
    check(job.fault || troubled() || pass->calls == calls, "every function of every library is called as often as it must be");
    check(places >= least && places <= most, "the libraries have as many symbols to find as they were made with");
}

/* `pass->libraries` stays false where the time was over, or a rank is in trouble. Collective. */
static void load_all(struct pass *pass)
{
    struct counters before = read_counters();
    struct span span = start_together();
    long opened = open_all(strcmp(binding, "now") == 0 ? RTLD_NOW : RTLD_LAZY);
    span.ended = now();
    bool whole = all_min(opened == libraries) > 0 && !troubled();
    job.stopped |= !whole;
    if (whole) {
        double places, at_load = count_all(&places);
        pass->own_load = span.ended - span.began;
        pass->of[LOAD] = over_ranks(span);
        span = start_together();
        double calls = (double)visit_all();
        span.ended = now();
        struct counters after = read_counters();
        pass->of[VISIT] = over_ranks(span);
        double bound = count_all(&places);
        if (!troubled_here() && bound != places)
            note_sentence("%.0f of %.0f symbols lead to the function of their name", bound, places);
        pass->at_load = all_sum(at_load) / job.ranks;
        pass->by_visit = all_sum(bound - at_load) / job.ranks;
        pass->calls = all_sum(calls) / job.ranks;
        pass->storage_bytes = all_sum(after.storage_bytes - before.storage_bytes);
        pass->major_faults = all_sum(after.major_faults - before.major_faults);
        pass->libraries = !troubled();
        if (job.checking)
            check_pass(pass, places);
    }
    close_all(opened);
}

/* ---- Python ------------------------------------------------------------------------------------------------------------ */

extern char **environ;

/* What the interpreter printed: bytes, or -1 where it cannot be started (with errno), ended badly, or the time is over. Its bytecode is
 * kept beside the modules where `keeping`. */
static ssize_t ask_python(bool keeping, char *said, size_t room, bool *over)
{
    char path[PATH_BYTES + 64], count[32], word[PATH_BYTES], *argv[8];
    int ends[2], status = -1, used = 0, error;
    posix_spawn_file_actions_t actions;
    pid_t child;
    snprintf(path, sizeof path, "%s/driver.py", place);
    snprintf(count, sizeof count, "%ld", modules);
    snprintf(word, sizeof word, "%s", python);
    char *words[] = {word, (char[]){"-E"}, (char[]){"-s"}, (char[]){"-S"}, keeping ? NULL : (char[]){"-B"}, path, count, NULL};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i])
            argv[used++] = words[i];
    argv[used] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    error = posix_spawnp(&child, python, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ssize_t have = 0, more = error ? 0 : 1;
    while (more > 0 && !*over) {
        struct pollfd waiting = {ends[0], POLLIN, 0};
        int ready = poll(&waiting, 1, 100);
        *over = budget_left() <= 0;
        if (ready > 0 && (more = read(ends[0], said + have, room - 1 - (size_t)have)) > 0)
            have += more;
    }
    close(ends[0]);
    if (!error && *over)
        kill(child, SIGKILL);
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    said[have] = '\0';
    errno = error;
    return !error && !*over && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? have : -1;
}

/* The modules are imported once by each rank that wrote them: Python keeps their bytecode, as it does of an installed program. Where there
 * is no interpreter this is said, and only libraries are loaded. */
static void prepare_modules(void)
{
    char said[LINE];
    bool over = false, missing = false;
    if (writes() && ask_python(true, said, sizeof said, &over) < 0 && !over) {
        missing = errno == ENOENT || errno == EACCES;
        if (!missing)
            note_sentence("'%.200s' cannot import the modules%s%s", python, errno ? ": " : "", errno ? strerror(errno) : "");
    }
    if (first_rank_with(missing) == job.ranks)
        return;
    warn("there is no program '%s' that can be started: no Python modules are imported", python);
    with_modules = false;
}

/* `pass->modules` stays false where the time was over, or a rank is in trouble. Collective. */
static void import_all(struct pass *pass)
{
    char said[LINE];
    double import = 0, call = 0;
    long sum = 0, calls = 0, right_sum = 0, right_calls = 0;
    bool over = false;
    struct span span = start_together();
    ssize_t have = ask_python(false, said, sizeof said, &over);
    span.ended = now();
    if (have < 0 && !over)
        note_sentence("'%.200s' cannot import the modules%s%s", python, errno ? ": " : "", errno ? strerror(errno) : "");
    if (have >= 0 && sscanf(said, "%lf %lf %ld %ld", &import, &call, &sum, &calls) != 4)
        note_sentence("'%.200s' said '%.100s' instead of the times of the modules", python, said);
    for (long k = 0; k < modules; k++) {
        right_sum += sum_of(k);
        right_calls += calls_of(k);
    }
    if (have >= 0 && !troubled_here())
        hold("Python modules up to", modules - 1, sum, calls, right_sum, right_calls);
    pass->modules = all_max(over) == 0 && !troubled();
    job.stopped |= !pass->modules;
    if (!pass->modules)
        return;
    pass->of[START] = over_ranks(span);
    pass->of[IMPORT] = (struct times){NAN, all_min(import), all_sum(import) / job.ranks, all_max(import)};
    pass->of[CALL] = (struct times){NAN, all_min(call), all_sum(call) / job.ranks, all_max(call)};
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

static void add(struct pass *sum, const struct pass *pass)
{
    for (int t = 0; t < TIMES; t++) {
        sum->of[t].job += pass->of[t].job;
        sum->of[t].fastest += pass->of[t].fastest;
        sum->of[t].mean += pass->of[t].mean;
        sum->of[t].slowest += pass->of[t].slowest;
    }
    sum->storage_bytes += pass->storage_bytes;
    sum->major_faults += pass->major_faults;
}

/* Of each node the longest time of its ranks; on rank 0, to be freed. */
static double *slowest_of_nodes(double seconds)
{
    double *ranks = job.rank == 0 ? memory((size_t)job.ranks * sizeof *ranks) : NULL;
    double *nodes = job.rank == 0 ? memory((size_t)job.nodes * sizeof *nodes) : NULL;
    gather_numbers(&seconds, 1, ranks);
    for (int n = 0; nodes && n < job.nodes; n++)
        nodes[n] = 0;
    for (int r = 0; nodes && r < job.ranks; r++)
        nodes[job.node_of[r]] = fmax(nodes[job.node_of[r]], ranks[r]);
    free(ranks);
    return nodes;
}

static double megabytes_of(long count, int ranks)
{
    double bytes = 0;
    for (long k = 0; k < count; k++)
        bytes += (double)built.bytes[k];
    return bytes * ranks / 1e6;
}

static void put_times(const char *name, struct times times, double passes)
{
    char key[64];
    const double values[] = {times.job, times.fastest, times.mean, times.slowest};
    const char *const whose[] = {"", "fastest_", "mean_", "slowest_"};
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "%s%s_s", whose[i], name);
        if (!isnan(values[i]))
            put_number(key, values[i] / passes);
    }
}

/* The means of so many passes. */
static void put_means(const struct pass *sum, double passes)
{
    put_times("load", sum->of[LOAD], passes);
    put_times("visit", sum->of[VISIT], passes);
    put_number("mb_s", megabytes_of(libraries, job.ranks) / (sum->of[LOAD].job / passes));
    put_number("storage_mb", sum->storage_bytes / passes / 1e6);
    put_number("major_faults", sum->major_faults / passes);
    if (with_modules) {
        put_times("python", sum->of[START], passes);
        put_times("import", sum->of[IMPORT], passes);
        put_times("call", sum->of[CALL], passes);
    }
}

static void put_passes(const char *key, const struct pass *sum, double passes)
{
    open_object(key);
    put_means(sum, passes);
    close_object();
}

static void write_pass(long number, const struct pass *pass)
{
    open_record("load");
    put_count("repeat", number);
    put_means(pass, 1);
    close_record();
}

static void write_nodes(const double *of_nodes)
{
    open_record("nodes");
    put_text("name", "load");
    put_text("unit", "s");
    open_list("labels");
    for (int n = 0; of_nodes && n < job.nodes; n++)
        put_text(NULL, job.node_names + (size_t)n * NAME_BYTES);
    close_list();
    open_list("values");
    for (int n = 0; of_nodes && n < job.nodes; n++)
        put_number(NULL, of_nodes[n]);
    close_list();
    close_record();
}

static void report(const struct pass *first, const struct pass *again, long more, double written, const double *of_nodes)
{
    if (job.checking)
        for (int t = 0; t < (with_modules ? TIMES : START); t++)
            check(first->of[t].fastest <= first->of[t].mean * (1 + 1e-9) && first->of[t].mean <= first->of[t].slowest * (1 + 1e-9) &&
                      (isnan(first->of[t].job) || first->of[t].slowest <= first->of[t].job + 1e-9), "fastest, mean, slowest rank and the job take longer in this order");
    write_nodes(of_nodes);
    open_record("result");
    put_count("libraries", libraries);
    put_count("functions", built.functions);
    put_count("modules", with_modules ? modules : 0);
    put_text("python", with_modules ? python : "none");
    put_number("library_mb", megabytes_of(libraries, 1));
    put_number("mb", megabytes_of(libraries, job.ranks));
    put_number("symbols_at_load", first->at_load);
    put_number("symbols_by_visit", first->by_visit);
    put_number("calls", first->calls);
    put_number("write_s", written);
    put_passes("first", first, 1);
    if (more > 0)
        put_passes("again", again, (double)more);
    end_result();
}

/* ---- the self-check ---------------------------------------------------------------------------------------------------- */

static void check_counts(void)
{
    struct built kept = built;
    size_t bytes[] = {1500000, 500000};
    built = (struct built){2, 20, NULL, bytes};
    check(calls_of(0) == 21 && calls_of(1) == 23 && calls_of(3) == 25, "two chains of ten and their entrance are 21 calls; each library before adds two");
    check(symbols_of(0) == 20 && symbols_of(1) == 22 && symbols_of(3) == 24, "the symbols are the own functions and the last ones that it calls");
    check(number_of(0, 1) == 802 && number_of(1, 0) == 856 && number_of(3, 19) == 653, "a function's number is that of loader.awk");
    check(last_of_chain(0) == 9 && last_of_chain(3) == 19, "the last ones of two chains are 9 and 19");
    check(sum_of(0) == 10111 && sum_of(1) == 10336 && sum_of(3) == 12637, "the sums of the first libraries of twenty functions are these");
    check(megabytes_of(2, 3) == 6, "two libraries of 1.5 and 0.5 MB are 6 MB for three ranks");
    built = kept;
}

static int self_check(void)
{
    check_counts();
    read_built();
    libraries = libraries ? libraries : built.count < 4 ? built.count : 4;
    return run();
}
