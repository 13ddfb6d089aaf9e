/* Devices that OpenMP reaches: GPUs; the cores of the host where there is none. Part of each gpu- kernel, whose file alone is compiled
 * for devices (OFFLOAD in the Makefile). Memory of a device is no memory of the host: it is copied, never looked into. */
#ifndef SHAKEDOWN_DEVICES_H
#define SHAKEDOWN_DEVICES_H

#include "common.h"

#include <omp.h>

/* Clang links the library that has these only where it makes code for devices. They are called where there is a device. */
#pragma weak omp_target_alloc
#pragma weak omp_target_free
#pragma weak omp_target_memcpy

/* `number` is OpenMP's; `visible` devices are shown to this rank; `host` where its code ran on the host all the same. */
static struct { int number, visible; bool host; } device;

static long gpus;       /* of the option --gpus, which each of the kernels has */

/* Ranks of a host take its devices in turn; one that is shown a single device takes that. Says plainly where the host did the work. */
static void choose_device(void)
{
    int host = 1;
    device.visible = omp_get_num_devices();
    device.number = device.visible ? job.host_rank % device.visible : omp_get_initial_device();
#pragma omp target map(tofrom: host) device(device.number)
    host = omp_is_initial_device();
    device.host = host;
    if (device.host)
        device.number = omp_get_initial_device();
    int without = first_rank_with(device.host), with = first_rank_with(!device.host);
    if (without == job.ranks)
        return;
    const char *why = device.visible ? "the program has no code for its devices" : "OpenMP shows it no device";
    if (without == job.rank && (gpus || with < job.ranks))
        fail("%s%s; build with OFFLOAD for the GPUs of this node, and ask the scheduler for them", why,
             gpus ? ", and the node must have GPUs" : ", and other ranks have one");
    if (without == job.rank)
        fprintf(stderr, "note: %s: rank %d on %s: %s: all numbers are of the cores of the host, and of no GPU\n", kernel.name, job.rank,
                job.node_name, why);
    int threads = omp_get_max_threads();
    tell_crowd(threads, "they share the cores that stand in for a device");
}

static void put_devices(void)
{
    put_text("ran_on", device.host ? "host" : "device");
    put_count("devices", device.visible);   /* that this rank is shown */
}

/* Memory of the device, or a failure in a sentence. */
static inline void *device_memory(size_t bytes, const char *way_out)
{
    void *block = device.host ? memory(bytes) : omp_target_alloc(bytes, device.number);
    if (!block)
        fail("the device has no %zu bytes left; %s", bytes, way_out);
    return block;
}

static inline void free_device(void *block)
{
    if (device.host)
        free(block);
    else
        omp_target_free(block, device.number);
}

static inline void copy_bytes(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (device.host)
        memcpy(to, from, bytes);
    else if (omp_target_memcpy(to, (void *)(uintptr_t)from, bytes, 0, 0, to_device, from_device) != 0)
        fail("%zu bytes could not be copied between device %d and device %d (%d is the host)", bytes, from_device, to_device,
             omp_get_initial_device());
}

static inline void to_device(void *to, const void *from, size_t bytes)
{
    copy_bytes(to, device.number, from, omp_get_initial_device(), bytes);
}

static inline void from_device(void *to, const void *from, size_t bytes)
{
    copy_bytes(to, omp_get_initial_device(), from, device.number, bytes);
}

/* One line of the job: a number of each rank, named by its host and its device. `value` is NaN where it has none. */
static inline void write_by_rank(const char *name, const char *unit, double value)
{
    double own[2] = {value, device.host ? -1 : device.number};
    double *all = job.rank == 0 ? memory(2 * (size_t)job.ranks * sizeof *all) : NULL;
    gather_numbers(own, 2, all);
    open_record("nodes");
    put_text("name", name);
    put_text("unit", unit);
    open_list("labels");
    for (int r = 0; all && r < job.ranks; r++) {
        char label[NAME_BYTES + 64];
        const char *host = job.node_names + (size_t)job.node_of[r] * NAME_BYTES;
        if (all[2 * r + 1] < 0)
            snprintf(label, sizeof label, "%s rank %d", host, r);
        else
            snprintf(label, sizeof label, "%s rank %d device %d", host, r, (int)all[2 * r + 1]);
        put_text(NULL, label);
    }
    close_list();
    open_list("values");
    for (int r = 0; all && r < job.ranks; r++)
        put_number(NULL, all[2 * r]);
    close_list();
    close_record();
    free(all);
}

#endif
