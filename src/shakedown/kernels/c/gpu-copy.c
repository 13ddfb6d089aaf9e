/* gpu-copy: copies between the host and a device, within a device, and from one device to the next, over size, by OpenMP.
 *
 * A copy is one call of omp_target_memcpy, timed until it returns; the time of a size is the mean over its repeats, after one that does not
 * count. All ranks copy at once: the rate of all is over the time from the first rank's start to the last rank's end, so that devices
 * that share a link to the host are seen to share it. Memory of the host is pageable, and pinned where the OpenMP library says
 * that it pins: only pinned memory reaches the speed of the link. What arrives is compared with what was sent. 1 GB = 10^9 bytes. */
#include "common.h"
#include "devices.h"

#include <math.h>

static const char every_way[] = "to-device,from-device,on-device,to-next", every_memory[] = "pageable,pinned";
static const char *ways = every_way, *memories = every_memory;
static size_t smallest = 8, largest = 268435456;
static long repeats = 20;

static const struct option options[] = {
    {"--ways", "to-device|from-device|on-device|to-next", TEXT, &ways, 0, "what is copied; to-next: to the next device that the rank is shown; joined by commas"},
    {"--memory", "pageable|pinned", TEXT, &memories, 0, "of the host; joined by commas"},
    {"--smallest", "BYTES", SIZE, &smallest, 1, "of a copy; the next is 8 times as large"},
    {"--largest", "BYTES", SIZE, &largest, 1, "of a copy; it is the last size"},
    {"--repeats", "N", COUNT, &repeats, 1, "copies of each size that are timed"},
    {"--gpus", "N", COUNT, &gpus, 0, "of each node; where there are any, a rank whose code runs on the host is a failure"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "gpu-copy", "Copies between host and GPU, within a GPU and between GPUs: GB/s of all ranks together and us of one copy, over size.", options, run,
    self_check};

enum { TO_DEVICE, FROM_DEVICE, ON_DEVICE, TO_NEXT, WAYS };
enum { PAGEABLE, PINNED, MEMORIES };
static const char *const way_names[WAYS] = {"to-device", "from-device", "on-device", "to-next"};
static const char *const memory_names[MEMORIES] = {"pageable", "pinned"};

/* `there` is on the next device for to-next, and on our own for on-device. */
struct places { unsigned char *host, *pinned, *here, *there, *next; omp_allocator_handle_t pinning; };

static double best[WAYS][MEMORIES];     /* GB/s of all ranks, the most over the sizes */
static double quickest[WAYS][MEMORIES]; /* us of a copy of the smallest size */
static long points;

static struct places prepare(void);
static void measure(struct places places, int way, int kind, long *left);
static void write_result(void);

static size_t next_size(size_t size)
{
    return size >= largest ? 0 : size * 8 > largest ? largest : size * 8;
}

/* Copies within devices know no memory of the host: they are measured once. */
static bool is_measured(struct places places, int way, int kind)
{
    bool of_host = way == TO_DEVICE || way == FROM_DEVICE;
    return chosen(ways, way_names[way]) && (of_host ? chosen(memories, memory_names[kind]) && (kind == PAGEABLE || places.pinned) : kind == PAGEABLE)
        && (way != TO_NEXT || places.next);
}

static int run(void)
{
    if (smallest > largest)
        misuse("the smallest size of %zu bytes is above the largest of %zu bytes", smallest, largest);
    choose_device();
    struct places places = prepare();
    long left = 0;
    points = 0;
    for (int w = 0; w < WAYS; w++)
        for (int k = 0; k < MEMORIES; k++) {
            best[w][k] = quickest[w][k] = NAN;
            for (size_t size = smallest; size && is_measured(places, w, k); size = next_size(size))
                left++;
        }
    if (!left)
        return failed("nothing of what --ways and --memory ask for can be measured: %s",
                      device.visible > 1 ? "the OpenMP library pins no memory" : "there is no second device, or the OpenMP library pins no memory");
    for (int w = 0; w < WAYS; w++)
        for (int k = 0; k < MEMORIES; k++)
            if (is_measured(places, w, k))
                measure(places, w, k, &left);
    free_device(places.here);
    free_device(places.there);
    if (places.next)
        omp_target_free(places.next, (device.number + 1) % device.visible);
    free(places.host);
    if (places.pinned)
        omp_free(places.pinned, places.pinning);
    if (!points)
        return failed("the budget of %g s ended before a copy was timed; give more --budget", job.budget);
    write_result();
    return 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------- */

/* Memory that the library pins, on all ranks or on none; NULL where it cannot. */
static unsigned char *pinned_memory(omp_allocator_handle_t *pinning)
{
    omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}, {omp_atk_fallback, omp_atv_null_fb}};
    *pinning = device.host || !chosen(memories, memory_names[PINNED]) ? omp_null_allocator : omp_init_allocator(omp_default_mem_space, 2, traits);
    unsigned char *block = *pinning == omp_null_allocator ? NULL : omp_alloc(largest, *pinning);
    if (all_min(block != NULL) > 0)
        return block;
    if (block)
        omp_free(block, *pinning);
    return NULL;
}

static struct places prepare(void)
{
    const char *way_out = "give a smaller --largest, or fewer ranks for each device";
    struct places places = {0};
    bool another = !device.host && device.visible > 1;
    need_memory((device.host ? 3 : 2) * (double)largest, "the buffers", way_out);
    places.host = memory(largest);
    places.pinned = pinned_memory(&places.pinning);
    places.here = device_memory(largest, way_out);
    places.there = device_memory(largest, way_out);
    if (all_min(another) > 0 && chosen(ways, way_names[TO_NEXT])) {
        places.next = omp_target_alloc(largest, (device.number + 1) % device.visible);
        if (!places.next)
            fail("the next device has no %zu bytes left; %s", largest, way_out);
    }
    return places;
}

/* ---- copies ------------------------------------------------------------------------------------------------------------- */

static unsigned char content(int rank, int way, size_t at)
{
    return (unsigned char)(at % 251 + 31U * (unsigned)rank + 17U * (unsigned)way);
}

static void fill(unsigned char *block, int way, size_t size)
{
    for (size_t at = 0; at < size; at++)
        block[at] = content(job.rank, way, at);
}

/* One copy of the way. Where it begins was filled before, with `fill_source`. */
static void copy(struct places places, unsigned char *host, int way, size_t size)
{
    int other = device.visible ? (device.number + 1) % device.visible : device.number;
    switch (way) {
    case TO_DEVICE: to_device(places.here, host, size); break;
    case FROM_DEVICE: from_device(host, places.here, size); break;
    case ON_DEVICE: copy_bytes(places.there, device.number, places.here, device.number, size); break;
    default: copy_bytes(places.next, other, places.here, device.number, size);
    }
}

/* The source holds what is to be copied, and the target something else. */
static void fill_source(struct places places, unsigned char *host, int way, size_t size)
{
    memset(host, 0, size);
    if (way == TO_DEVICE || way == ON_DEVICE)
        to_device(way == TO_DEVICE ? places.here : places.there, host, size);
    fill(host, way, size);
    if (way != TO_DEVICE)
        to_device(places.here, host, size);
    if (way == FROM_DEVICE || way == TO_NEXT)
        memset(host, 0, size);
    if (way == TO_NEXT)
        copy_bytes(places.next, (device.number + 1) % device.visible, host, omp_get_initial_device(), size);
}

static void verify(struct places places, unsigned char *host, int way, size_t size)
{
    if (way == TO_DEVICE || way == ON_DEVICE) {
        memset(host, 0, size);
        from_device(host, way == TO_DEVICE ? places.here : places.there, size);
    }
    if (way == TO_NEXT)
        copy_bytes(host, omp_get_initial_device(), places.next, (device.number + 1) % device.visible, size);
    if (job.fault && job.rank == job.ranks - 1)
        host[size - 1] ^= 1;
    for (size_t at = 0; at < size; at++)
        if (host[at] != content(job.rank, way, at))
            fail("a copy %s of %zu bytes arrived with wrong content, at byte %zu", way_names[way], size, at);
}

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

static double gb_s(double bytes, double seconds)
{
    return bytes / seconds / 1e9;
}

static void write_point(int way, int kind, size_t size, double rate, double us)
{
    open_record("copy");
    put_text("way", way_names[way]);
    if (way == TO_DEVICE || way == FROM_DEVICE)
        put_text("memory", memory_names[kind]);
    put_count("size", (long long)size);
    put_number("gb_s", rate);
    put_number("us", us);
    close_record();
}

/* One size of one way: all ranks' bytes over the time of all; us of a rank's copy is the mean over ranks and repeats. */
static void measure_size(struct places places, int way, int kind, size_t size, long left)
{
    unsigned char *host = kind == PINNED ? places.pinned : places.host;
    double seconds = 0, own = 0;
    long done = 0;
    fill_source(places, host, way, size);
    copy(places, host, way, size);
    struct rounds rounds = share_budget(repeats, left);
    while (next_batch(&rounds)) {
        double whole;
        struct span span = start_together();
        for (long i = 0; i < rounds.batch; i++)
            copy(places, host, way, size);
        span.ended = now();
        job_seconds(&span, 1, &whole);
        seconds += whole;
        own += span.ended - span.began;
        done += rounds.batch;
    }
    if (!done)
        return;
    verify(places, host, way, size);
    double rate = gb_s((double)size * (double)done * job.ranks, seconds), us = 1e6 * all_sum(own) / job.ranks / (double)done;
    write_point(way, kind, size, rate, us);
    best[way][kind] = best[way][kind] > rate ? best[way][kind] : rate;
    quickest[way][kind] = size == smallest ? us : quickest[way][kind];
    char name[64];
    snprintf(name, sizeof name, "%s%s", way_names[way], kind == PINNED ? ", pinned" : "");
    if (size == largest)
        write_by_rank(name, "GB/s", gb_s((double)size * (double)done, own));
    points++;
}

static void measure(struct places places, int way, int kind, long *left)
{
    for (size_t size = smallest; size; size = next_size(size), --*left)
        measure_size(places, way, kind, size, *left);
}

/* ---- the report ---------------------------------------------------------------------------------------------------------- */

static void put_rates(const char *name, int way, int kind)
{
    char key[64];
    snprintf(key, sizeof key, "%s_gb_s", name);
    put_number(key, best[way][kind]);
    snprintf(key, sizeof key, "%s_us", name);
    put_number(key, quickest[way][kind]);
}

static void write_result(void)
{
    open_record("result");
    for (int kind = 0; kind < MEMORIES; kind++) {
        open_object(memory_names[kind]);
        put_rates("to_device", TO_DEVICE, kind);
        put_rates("from_device", FROM_DEVICE, kind);
        close_object();
    }
    open_object("within");
    put_rates("on_device", ON_DEVICE, PAGEABLE);
    put_rates("to_next", TO_NEXT, PAGEABLE);
    close_object();
    put_count("points", points);
    put_devices();
    end_result();
}

static int self_check(void)
{
    smallest = 8;
    largest = 1000;
    check(next_size(8) == 64 && next_size(512) == 1000 && next_size(1000) == 0, "8, 64, 512 and 1000 bytes follow each other");
    check(gb_s(6e9, 2) == 3, "6 billion bytes in 2 s are 3 GB/s");
    check(content(1, 0, 0) != content(0, 0, 0) && content(0, 1, 0) != content(0, 0, 0) && content(0, 0, 1) != content(0, 0, 0),
          "content differs by rank, by way and by place");
    ways = every_way;
    memories = "pageable";
    repeats = 3;
    int status = run();
    check(job.stopped || status || points == 4 * (3 + (!device.host && device.visible > 1)), "every way is measured at every size");
    for (int w = 0; w < TO_NEXT; w++)
        check(job.stopped || status || best[w][PAGEABLE] > 0, "every way has a rate");
    return status;
}
