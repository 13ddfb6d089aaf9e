/* For kernels that use a file system: a directory of the job's own, content that proves where it came from, whole transfers,
 * and trouble that all ranks agree on before one of them speaks, so that nothing is left behind. */
#ifndef SHAKEDOWN_FILES_H
#define SHAKEDOWN_FILES_H

#include "common.h"

#include <sys/types.h>

enum { PATH_BYTES = 4096, SECTOR = 512 };

/* Remember what went wrong on this rank, with errno; only the first counts. */
void note_trouble(const char *what, const char *path);
void note_wrong_data(const char *path, long long at);
void note_wrong_size(const char *path, long long found, long long wanted);
void note_wrong_count(const char *path, long found, long wanted);      /* of the files in a directory */
void note_sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool troubled_here(void);       /* on this rank */
bool troubled(void);            /* on any rank; collective */
int tell_trouble(void);         /* the first rank in trouble says so for all; returns 1; collective */

/* A new directory in `directory`, its path in place[PATH_BYTES], "" where it could not be made; collective. */
void make_place(const char *directory, char *place);
/* The same for each of the communicators that the ranks are in: their first rank makes it; collective over all ranks. */
void make_place_for(MPI_Comm ranks, const char *directory, char *place);
void remove_place(const char *place);       /* with all that is in it; collective */

/* Every 512 bytes begin with a number made of the owner and the place in the owner's data: what is lost, old or misplaced is
 * found. The rest of a transfer is the same each time, so filling it costs next to nothing. `at` counts the owner's bytes. */
void fill_buffer(unsigned char *buffer, size_t bytes);
void stamp_buffer(unsigned char *buffer, size_t bytes, int owner, uint64_t at);
bool stamps_right(const unsigned char *buffer, size_t bytes, int owner, uint64_t at);
bool fillers_right(const unsigned char *buffer, size_t bytes);

/* All bytes, whatever one system call moves; false with errno set. */
bool write_whole(int handle, const unsigned char *buffer, size_t bytes, off_t offset);
bool read_whole(int handle, unsigned char *buffer, size_t bytes, off_t offset);

/* For metadata rates; false with errno set. */
bool create_file(const char *path);
bool examine_file(const char *path);
bool remove_file(const char *path);

void check_files(void);

#endif
