/* The memory of this process, as the kernel of the operating system counts it, and of the ranks of a node together. */
#include "common.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

/* The bytes behind `key` in a file of lines such as "VmRSS:    4304 kB"; NaN where they cannot be read. */
static double kilobytes_of(const char *path, const char *key)
{
    char line[256];
    double bytes = NAN;
    FILE *file = fopen(path, "r");
    while (file && isnan(bytes) && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            bytes = 1024 * strtod(line + strlen(key), NULL);
    if (file)
        fclose(file);
    return bytes;
}

struct footprint read_footprint(void)
{
    return (struct footprint){.resident = kilobytes_of("/proc/self/status", "VmRSS:"),
                              .peak = kilobytes_of("/proc/self/status", "VmHWM:"),
                              .share = kilobytes_of("/proc/self/smaps_rollup", "Pss:")};
}

/* Writing 5 sets the highest resident size to the present one, from Linux 4.0 on. */
bool restart_peak(void)
{
    int handle = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    bool done = handle >= 0 && write(handle, "5", 1) == 1;
    if (handle >= 0)
        close(handle);
    return done;
}

struct on_nodes on_nodes(double value)
{
    double node = 0;
    MPI_Request request;
    int node_rank;
    MPI_Comm_rank(job.node_comm, &node_rank);
    MPI_Iallreduce(&value, &node, 1, MPI_DOUBLE, MPI_SUM, job.node_comm, &request);
    settle(&request);
    double ends[] = {isnan(node), isnan(node) ? 0 : -node, isnan(node) ? 0 : node};
    double sum = all_sum(node_rank == 0 ? node : 0);
    all_largest(ends, 3);
    return ends[0] > 0 ? (struct on_nodes){NAN, NAN, NAN} : (struct on_nodes){-ends[1], sum / job.nodes, ends[2]};
}

void check_footprint(void)
{
    enum { BLOCK = 8 << 20 };
    int node_ranks;
    MPI_Comm_size(job.node_comm, &node_ranks);
    struct on_nodes ones = on_nodes(1);
    check(ones.mean * job.nodes == job.ranks && ones.max == all_max(node_ranks) && ones.min == all_min(node_ranks),
          "what ranks of a node have is added, and nodes are not");
    check(isnan(on_nodes(job.rank == job.ranks - 1 ? NAN : 1).max), "a rank whose memory cannot be read makes the sum unknown");
    struct footprint before = read_footprint();
    if (isnan(before.resident))
        return;
    char *block = memory(BLOCK);
    for (size_t at = 0; at < BLOCK; at += 512)
        ((volatile char *)block)[at] = 1;
    double grown = read_footprint().resident - before.resident;
    free(block);
    check(grown > 0.9 * BLOCK && grown < 1.5 * BLOCK, "a block of 8 MiB that is touched makes this process 8 MiB larger");
}
