/* Calls of MPI 3 and 4 that few programs make, each counted by the program itself. What the library does not have is left out. */
#include "counting.h"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define NEW_IN_MPI_4
#endif

static int next, before;

static void wait_for(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    count("Wait", 0);
}

/* Sends of three kinds that are started in another order than they were made, after one in their middle was freed. */
static void persistent(void)
{
    MPI_Request all[4], receive, nobody;
    int flag;
    for (int i = 0; i < 4; i++) {
        MPI_Send_init(out, 10 * (i + 1), MPI_INT, i % 2 ? before : next, i, MPI_COMM_WORLD, &all[i]);
        count("Send_init", 0);
    }
    MPI_Send_init(out, 1000, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nobody);
    count("Send_init", 0);
    MPI_Request_free(&all[1]);
    count("Request_free", 0);
    const int order[] = {3, 0, 2, 3};
    for (int i = 0; i < 4; i++) {
        int k = order[i];
        MPI_Recv_init(in, 100, MPI_INT, k % 2 ? next : before, k, MPI_COMM_WORLD, &receive);
        count("Recv_init", 0);
        MPI_Start(&receive);
        count("Start", 0);
        MPI_Start(&all[k]);
        tell("Start", k % 2 ? before : next, 40L * (k + 1));
        wait_for(&all[k]);
        wait_for(&receive);
        MPI_Request_free(&receive);
        count("Request_free", 0);
    }
    MPI_Start(&nobody);
    count("Start", 0);
    wait_for(&nobody);
    MPI_Request_get_status(all[0], &flag, MPI_STATUS_IGNORE);
    count("Request_get_status", 0);
    MPI_Irecv(in, 1, MPI_INT, next, 99, MPI_COMM_WORLD, &receive);
    count("Irecv", 0);
    MPI_Cancel(&receive);
    count("Cancel", 0);
    wait_for(&receive);
}

static void communicators(void)
{
    MPI_Comm made[6], grid, part, between;
    MPI_Group group;
    MPI_Request request;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made[0]);
    count("Comm_dup_with_info", 0);
    MPI_Comm_idup(MPI_COMM_WORLD, &made[1], &request);
    count("Comm_idup", 0);
    wait_for(&request);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made[2]);
    count("Comm_split_type", 0);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made[3]);
    count("Comm_create_group", 0);
    MPI_Group_free(&group);
    int whole = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &whole, 0, &grid);
    count("Cart_create", 0);
    MPI_Cart_sub(grid, &whole, &made[4]);
    count("Cart_sub", 0);
    MPI_Comm_free(&grid);
    count("Comm_free", 0);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
    count("Comm_split", 0);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 6, &between);
    count("Intercomm_create", 0);
    /* A group of one and one of all others: what each gives to the other group. */
    MPI_Allgather(out, 3, MPI_INT, in, 3, MPI_INT, between);
    count("Allgather", 12);
    MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, between);
    count("Alltoall", rank ? 12 : 12L * (ranks - 1));
    MPI_Isend(out, 3, MPI_INT, 0, 1, between, &request);
    tell("Isend", rank ? 0 : 1, 12);
    for (int i = 0; i < (rank ? rank == 1 : ranks - 1); i++) {
        MPI_Recv(in, 3, MPI_INT, MPI_ANY_SOURCE, 1, between, MPI_STATUS_IGNORE);
        count("Recv", 0);
    }
    wait_for(&request);
    MPI_Intercomm_merge(between, 0, &made[5]);
    count("Intercomm_merge", 0);
    MPI_Comm_free(&part);
    MPI_Comm_free(&between);
    count("Comm_free", 0);
    count("Comm_free", 0);
    for (int i = 0; i < 6; i++) {
        MPI_Comm_free(&made[i]);
        count("Comm_free", 0);
    }
}

static void one_sided(void)
{
    MPI_Win window;
    MPI_Request request;
    char *memory;
    MPI_Win_allocate(256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    count("Win_allocate", 0);
    MPI_Win_lock_all(0, window);
    count("Win_lock_all", 0);
    MPI_Rget_accumulate(out, 3, MPI_INT, in, 3, MPI_INT, next, 0, 3, MPI_INT, MPI_SUM, window, &request);
    tell("Rget_accumulate", next, 12);
    wait_for(&request);
    MPI_Win_flush_local(next, window);
    count("Win_flush_local", 0);
    MPI_Win_flush_local_all(window);
    count("Win_flush_local_all", 0);
    MPI_Win_sync(window);
    count("Win_sync", 0);
    MPI_Win_unlock_all(window);
    count("Win_unlock_all", 0);
    MPI_Win_free(&window);
    count("Win_free", 0);
}

static void files(void)
{
    MPI_File file;
    MPI_Request request;
    MPI_Status *any = MPI_STATUS_IGNORE;
    char name[64];
    snprintf(name, sizeof name, "file-%d", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    count("File_open", 0);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    count("File_set_view", 0);
    MPI_File_write(file, out, 2, MPI_INT, any);
    count("File_write", 8);
    MPI_File_write_at(file, 2, out, 3, MPI_INT, any);
    count("File_write_at", 12);
    MPI_File_iwrite(file, out, 4, MPI_INT, &request);
    count("File_iwrite", 16);
    wait_for(&request);
    MPI_File_iwrite_at(file, 6, out, 5, MPI_INT, &request);
    count("File_iwrite_at", 20);
    wait_for(&request);
    MPI_File_iread_at_all(file, 0, in, 6, MPI_INT, &request);
    count("File_iread_at_all", 24);
    wait_for(&request);
    MPI_File_write_at_all_begin(file, 0, out, 7, MPI_INT);
    count("File_write_at_all_begin", 28);
    MPI_File_write_at_all_end(file, out, any);
    count("File_write_at_all_end", 0);
    MPI_File_read_all_begin(file, in, 1, MPI_INT);
    count("File_read_all_begin", 4);
    MPI_File_read_all_end(file, in, any);
    count("File_read_all_end", 0);
    MPI_File_read_at_all(file, 0, in, 8, MPI_INT, any);
    count("File_read_at_all", 32);
    MPI_File_close(&file);
    count("File_close", 0);
    MPI_File_delete(name, MPI_INFO_NULL);
}

/* Four gibibytes in one element of a type: nothing moves between a rank and itself. */
static void large_type(void)
{
    MPI_Datatype huge;
    MPI_Type_create_hvector(1 << 20, 4096, 0, MPI_BYTE, &huge);
    MPI_Type_commit(&huge);
    MPI_Bcast(out, 1, huge, 0, MPI_COMM_SELF);
    count("Bcast", 4L << 30);
    MPI_Type_free(&huge);
}

#ifdef NEW_IN_MPI_4
static void start(MPI_Request *request, long bytes)
{
    for (int times = 0; times < 2; times++) {
        MPI_Start(request);
        count("Start", bytes);
        wait_for(request);
    }
    MPI_Request_free(request);
    count("Request_free", 0);
}

static void persistent_collectives(void)
{
    MPI_Request request;
    int counts[64], places[64];
    MPI_Comm ring;
    for (int r = 0; r < ranks; r++) {
        counts[r] = 4;
        places[r] = 4 * r;
    }
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Barrier_init", 0);
    start(&request, 0);
    MPI_Bcast_init(in, 6, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Bcast_init", 0);
    start(&request, rank == 1 ? 24 : 0);
    MPI_Allreduce_init(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Allreduce_init", 0);
    start(&request, 12);
    MPI_Gather_init(out, 7, MPI_INT, in, 7, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Gather_init", 0);
    start(&request, 28);
    MPI_Scatterv_init(out, counts, places, MPI_INT, in, 4, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Scatterv_init", 0);
    start(&request, rank ? 0 : 16L * ranks);
    MPI_Alltoallv_init(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Alltoallv_init", 0);
    start(&request, 16L * ranks);
    int closed = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &closed, 0, &ring);
    count("Cart_create", 0);
    MPI_Neighbor_alltoall_init(out, 5, MPI_INT, in, 5, MPI_INT, ring, MPI_INFO_NULL, &request);
    count("Neighbor_alltoall_init", 0);
    start(&request, 40);
    MPI_Comm_free(&ring);
    count("Comm_free", 0);
}

static void partitioned(void)
{
    MPI_Request both[2], request;
    int list[] = {3}, flag;
    MPI_Psend_init(out, 4, 10, MPI_INT, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    count("Psend_init", 0);
    MPI_Precv_init(in, 4, 10, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    count("Precv_init", 0);
    for (int times = 0; times < 2; times++) {
        MPI_Startall(2, both);
        tell("Startall", next, 160);
        MPI_Pready(0, both[0]);
        count("Pready", 0);
        MPI_Pready_range(1, 2, both[0]);
        count("Pready_range", 0);
        MPI_Pready_list(1, list, both[0]);
        count("Pready_list", 0);
        MPI_Parrived(both[1], 0, &flag);
        count("Parrived", 0);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        count("Waitall", 0);
    }
    MPI_Isendrecv(out, 11, MPI_INT, next, 4, in, 11, MPI_INT, before, 4, MPI_COMM_WORLD, &request);
    tell("Isendrecv", next, 44);
    wait_for(&request);
}
#endif

#if MPI_VERSION >= 4
static void large_counts(void)
{
    MPI_Count counts[64];
    MPI_Aint places[64];
    MPI_Request request;
    MPI_Win window;
    char *memory;
    for (int r = 0; r < ranks; r++) {
        counts[r] = r + 1;
        places[r] = 8 * r;
    }
    MPI_Irecv_c(in, 12, MPI_INT, before, 3, MPI_COMM_WORLD, &request);
    count("Irecv_c", 0);
    MPI_Send_c(out, 12, MPI_INT, next, 3, MPI_COMM_WORLD);
    tell("Send_c", next, 48);
    wait_for(&request);
    MPI_Send_init_c(out, 5, MPI_INT, next, 3, MPI_COMM_WORLD, &request);
    count("Send_init_c", 0);
    MPI_Start(&request);
    tell("Start", next, 20);
    MPI_Recv_c(in, 5, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    count("Recv_c", 0);
    wait_for(&request);
    MPI_Bcast_c(out, (MPI_Count)3000000000, MPI_BYTE, 0, MPI_COMM_SELF);
    count("Bcast_c", 3000000000);
    MPI_Allreduce_c(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    count("Allreduce_c", 8);
    MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    count("Allgatherv_c", 4L * (rank + 1));
    MPI_Reduce_scatter_c(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    count("Reduce_scatter_c", 2L * ranks * (ranks + 1));
    MPI_Reduce_scatter_init_c(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    count("Reduce_scatter_init_c", 0);
    start(&request, 2L * ranks * (ranks + 1));
    MPI_Win_allocate_c(256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    count("Win_allocate_c", 0);
    MPI_Win_fence(0, window);
    count("Win_fence", 0);
    MPI_Put_c(out, 9, MPI_BYTE, next, 0, 9, MPI_BYTE, window);
    tell("Put_c", next, 9);
    MPI_Win_fence(0, window);
    count("Win_fence", 0);
    MPI_Win_free(&window);
    count("Win_free", 0);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    next = (rank + 1) % ranks;
    before = (rank + ranks - 1) % ranks;
    persistent();
    communicators();
    one_sided();
    files();
    large_type();
#ifdef NEW_IN_MPI_4
    persistent_collectives();
    partitioned();
#endif
#if MPI_VERSION >= 4
    large_counts();
#endif
    return end();
}
