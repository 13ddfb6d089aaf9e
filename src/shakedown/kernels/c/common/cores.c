/* Cores, NUMA domains, caches and memory of this host, from the scheduler's mask and /sys. */
#include "common.h"

#include <errno.h>
#include <unistd.h>

static size_t mask_bytes(void) { return CPU_ALLOC_SIZE(MOST_CORES); }

void read_cores(struct cores *cores)
{
    cpu_set_t *mask = CPU_ALLOC(MOST_CORES);
    if (!mask)
        fail("no memory for a mask of cores");
    CPU_ZERO_S(mask_bytes(), mask);
    if (sched_getaffinity(0, mask_bytes(), mask) != 0)
        fail("cannot read which cores this process may use: %s", strerror(errno));
    cores->count = 0;
    for (int c = 0; c < MOST_CORES; c++)
        cores->count += cores->allowed[c] = CPU_ISSET_S(c, mask_bytes(), mask) != 0;
    CPU_FREE(mask);
    unsigned char *everyone = memory((size_t)job.host_ranks * MOST_CORES);
    MPI_Allgather(cores->allowed, MOST_CORES, MPI_UNSIGNED_CHAR, everyone, MOST_CORES, MPI_UNSIGNED_CHAR, job.host_comm);
    cores->sharers = cores->share = 0;
    for (int r = 0; r < job.host_ranks; r++)
        if (memcmp(everyone + (size_t)r * MOST_CORES, cores->allowed, MOST_CORES) == 0) {
            cores->share += r < job.host_rank;
            cores->sharers++;
        }
    free(everyone);
}

bool share_cores(long threads, int *ranks, int *count)
{
    static struct cores cores;
    static unsigned char together[MOST_CORES];
    read_cores(&cores);
    MPI_Allreduce(cores.allowed, together, MOST_CORES, MPI_UNSIGNED_CHAR, MPI_BOR, job.host_comm);
    *ranks = cores.sharers;
    *count = cores.count;
    int crowded = *ranks * threads > *count, anywhere;
    MPI_Allreduce(&crowded, &anywhere, 1, MPI_INT, MPI_MAX, job.host_comm);
    if (crowded)
        return true;
    *ranks = job.host_ranks;
    *count = 0;
    for (int c = 0; c < MOST_CORES; c++)
        *count += together[c];
    return anywhere || *ranks * threads > *count;
}

void tell_crowd(long threads, const char *meaning)
{
    int ranks, count;
    share_cores(threads, &ranks, &count);
    if (first_rank_with(ranks * threads > count) != job.rank)
        return;
    char each[64] = "";
    if (threads > 1)
        snprintf(each, sizeof each, " of %ld threads", threads);
    fprintf(stderr, "note: %s: %d rank%s%s share%s %d core%s on %s: %s\n", kernel.name, ranks, ranks == 1 ? "" : "s", each,
            ranks == 1 ? "s" : "", count, count == 1 ? "" : "s", job.node_name, meaning);
}

void cores_text(const struct cores *cores, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (int c = 0; c < MOST_CORES && used < CORES_TEXT_BYTES - 24; c++) {
        if (!cores->allowed[c])
            continue;
        int last = c;
        while (last + 1 < MOST_CORES && cores->allowed[last + 1])
            last++;
        used += (size_t)snprintf(text + used, CORES_TEXT_BYTES - used, used ? ",%d" : "%d", c);
        if (last > c)
            used += (size_t)snprintf(text + used, CORES_TEXT_BYTES - used, "-%d", last);
        c = last;
    }
}

int nth_core(const struct cores *cores, int n)
{
    for (int c = 0; c < MOST_CORES; c++)
        if (cores->allowed[c] && n-- == 0)
            return c;
    return -1;
}

void bind_to(const struct cores *cores)
{
    cpu_set_t *mask = CPU_ALLOC(MOST_CORES);
    if (!mask)
        fail("no memory for a mask of cores");
    CPU_ZERO_S(mask_bytes(), mask);
    for (int c = 0; c < MOST_CORES; c++)
        if (cores->allowed[c])
            CPU_SET_S(c, mask_bytes(), mask);
    if (sched_setaffinity(0, mask_bytes(), mask) != 0)
        fail("cannot bind to a core: %s", strerror(errno));
    CPU_FREE(mask);
}

int take_one_core(void)
{
    static struct cores cores;
    read_cores(&cores);
    int core = nth_core(&cores, cores.share % cores.count);
    memset(cores.allowed, 0, sizeof cores.allowed);
    cores.allowed[core] = 1;
    cores.count = 1;
    bind_to(&cores);
    return core;
}

/* ---- /sys -------------------------------------------------------------------------------------------------------------- */

/* The first line of a small file; false where it cannot be read. */
static bool read_line(const char *path, char *line, int bytes)
{
    FILE *file = fopen(path, "r");
    bool read = file && fgets(line, bytes, file);
    if (file)
        fclose(file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    return read;
}

/* Reads "0-3,8,10-11" into flags; anything else ends the reading. */
static void read_list(const char *text, unsigned char *flags)
{
    memset(flags, 0, MOST_CORES);
    while (*text >= '0' && *text <= '9') {
        char *rest;
        long first = strtol(text, &rest, 10), last = first;
        if (*rest == '-')
            last = strtol(rest + 1, &rest, 10);
        for (long c = first; c <= last && c < MOST_CORES; c++)
            flags[c] = 1;
        text = *rest == ',' ? rest + 1 : rest;
        if (*rest != ',')
            return;
    }
}

int numa_domains(void)
{
    char line[4096], path[96];
    int domains = 0;
    do
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", domains++);
    while (read_line(path, line, sizeof line) && domains < 4096);
    return domains > 1 ? domains - 1 : 1;
}

bool keep_numa_domain(struct cores *cores, int domain)
{
    static unsigned char flags[MOST_CORES];
    char line[4096], path[96];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", domain);
    if (!read_line(path, line, sizeof line))
        return domain == 0;     /* a kernel without NUMA has one domain and does not list it */
    read_list(line, flags);
    cores->count = 0;
    for (int c = 0; c < MOST_CORES; c++)
        cores->count += cores->allowed[c] = cores->allowed[c] && flags[c];
    return cores->count > 0;
}

/* The bytes of the largest-numbered cache level of one core, where this core is the first of those that share it; else 0. */
static size_t led_cache_bytes(int core)
{
    static unsigned char flags[MOST_CORES];
    char line[4096], path[128];
    size_t bytes = 0;
    int highest = 0;
    for (int index = 0; index < 16; index++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", core, index);
        if (!read_line(path, line, sizeof line))
            break;
        int level = atoi(line);
        if (level < highest)
            continue;
        highest = level;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", core, index);
        if (!read_line(path, line, sizeof line))
            continue;
        char *unit;
        bytes = (size_t)strtoul(line, &unit, 10) * (*unit == 'M' ? 1048576 : *unit == 'K' ? 1024 : 1);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", core, index);
        if (read_line(path, line, sizeof line)) {
            read_list(line, flags);
            for (int other = 0; other < core; other++)
                bytes = flags[other] ? 0 : bytes;
        }
    }
    return bytes;
}

int host_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_CONF);
    return cores > 1 ? (int)cores : 1;
}

size_t last_level_cache_bytes(void)
{
    size_t bytes = 0;
    int cores = host_cores();
    for (int core = 0; core < cores && core < MOST_CORES; core++)
        bytes += led_cache_bytes(core);
    return bytes;
}

size_t host_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
}
