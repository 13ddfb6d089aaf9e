/* A clock that is wrong by the seconds in a file: preloaded into the programs of an emulated node.
   Only what is read of the calendar clock is changed: durations (CLOCK_MONOTONIC), time-outs and the file system's times stay
   true. The file is mapped, so that a step reaches programs that run already. Slurm's own programs keep the true time: with a
   wrong one munge would refuse their credentials, which is another fault. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const long long zero;
static const volatile long long *offset_ns = &zero;

__attribute__((constructor)) static void map_offset(void) {
    int file = open(OFFSET_FILE, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (!dlsym(RTLD_DEFAULT, "slurm_init") && !dlsym(RTLD_DEFAULT, "slurm_conf_init")) {
        void *mapped = mmap(NULL, sizeof(long long), PROT_READ, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) offset_ns = mapped;
    }
    close(file);
}

static int calendar(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*original)(clockid_t, struct timespec *);
    if (!original) original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = original ? original(clock, now) : (int)syscall(SYS_clock_gettime, clock, now);
    if (status || !calendar(clock) || !*offset_ns) return status;
    long long total = now->tv_sec * 1000000000LL + now->tv_nsec + *offset_ns;
    now->tv_sec = total / 1000000000LL;
    now->tv_nsec = total % 1000000000LL;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec fine;
    if (clock_gettime(CLOCK_REALTIME, &fine)) return -1;
    if (now) *now = (struct timeval){fine.tv_sec, fine.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    struct timespec fine;
    clock_gettime(CLOCK_REALTIME, &fine);
    if (result) *result = fine.tv_sec;
    return fine.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, now) ? base : 0;
}
