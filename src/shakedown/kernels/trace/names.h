/* The calls that the tracer counts, by what an MPI library must have for them. Part of trace.c. */

/* Large counts are of MPI 4. Open MPI 5 has what else is new in MPI 4, and calls itself MPI 3. */
#define LARGE_COUNTS (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define NEW_IN_MPI_4 1
#else
#define NEW_IN_MPI_4 0
#endif

/* Calls with counts. Each has a second one with large counts, whose name ends in _c. */
#define COLLECTIVES(X) \
    X(Bcast) X(Reduce) X(Allreduce) X(Scan) X(Exscan) X(Reduce_scatter) X(Reduce_scatter_block) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) \
    X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) X(Alltoallw)
#define COLLECTIVES_THAT_DO_NOT_BLOCK(X) \
    X(Ibcast) X(Ireduce) X(Iallreduce) X(Iscan) X(Iexscan) X(Ireduce_scatter) X(Ireduce_scatter_block) X(Igather) X(Igatherv) X(Iscatter) \
    X(Iscatterv) X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw)
#define AMONG_NEIGHBOURS(X) \
    X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv) X(Neighbor_alltoallw) X(Ineighbor_allgather) \
    X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv) X(Ineighbor_alltoallw)
#define PERSISTENT_COLLECTIVES(X) \
    X(Bcast_init) X(Reduce_init) X(Allreduce_init) X(Scan_init) X(Exscan_init) X(Reduce_scatter_init) X(Reduce_scatter_block_init) \
    X(Gather_init) X(Gatherv_init) X(Scatter_init) X(Scatterv_init) X(Allgather_init) X(Allgatherv_init) X(Alltoall_init) X(Alltoallv_init) \
    X(Alltoallw_init) X(Neighbor_allgather_init) X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init) X(Neighbor_alltoallv_init) \
    X(Neighbor_alltoallw_init)
#define POINT_TO_POINT(X) \
    X(Send) X(Ssend) X(Bsend) X(Rsend) X(Isend) X(Issend) X(Ibsend) X(Irsend) X(Recv) X(Irecv) X(Mrecv) X(Imrecv) X(Sendrecv) \
    X(Sendrecv_replace) X(Send_init) X(Ssend_init) X(Bsend_init) X(Rsend_init) X(Recv_init)
#define ONE_SIDED(X) \
    X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate) X(Win_create) X(Win_allocate) \
    X(Win_allocate_shared)
#define ON_FILES(X) \
    X(File_read) X(File_write) X(File_read_all) X(File_write_all) X(File_read_at) X(File_write_at) X(File_read_at_all) X(File_write_at_all) \
    X(File_read_shared) X(File_write_shared) X(File_read_ordered) X(File_write_ordered) X(File_iread) X(File_iwrite) X(File_iread_all) \
    X(File_iwrite_all) X(File_iread_at) X(File_iwrite_at) X(File_iread_at_all) X(File_iwrite_at_all) X(File_iread_shared) \
    X(File_iwrite_shared) X(File_read_all_begin) X(File_write_all_begin) X(File_read_at_all_begin) X(File_write_at_all_begin) \
    X(File_read_ordered_begin) X(File_write_ordered_begin)

/* Calls without counts. */
#define REQUESTS(X) \
    X(Start) X(Startall) X(Request_free) X(Request_get_status) X(Cancel) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) \
    X(Testany) X(Testsome) X(Probe) X(Iprobe) X(Mprobe) X(Improbe)
#define OTHERS(X) \
    X(Barrier) X(Ibarrier) X(Fetch_and_op) X(Compare_and_swap) X(Win_create_dynamic) X(Win_fence) X(Win_lock) X(Win_unlock) X(Win_lock_all) \
    X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_sync) X(Win_post) X(Win_start) \
    X(Win_complete) X(Win_wait) X(Win_test) X(Win_free) X(File_open) X(File_close) X(File_sync) X(File_set_view) X(File_read_all_end) \
    X(File_write_all_end) X(File_read_at_all_end) X(File_write_at_all_end) X(File_read_ordered_end) X(File_write_ordered_end) X(Comm_dup) \
    X(Comm_dup_with_info) X(Comm_idup) X(Comm_split) X(Comm_split_type) X(Comm_create) X(Comm_create_group) \
    X(Cart_create) X(Cart_sub) X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent) X(Intercomm_create) X(Intercomm_merge) \
    X(Comm_free) X(Comm_disconnect)
#define PARTITIONED(X) X(Psend_init) X(Precv_init) X(Pready) X(Pready_range) X(Pready_list) X(Parrived)

#define COUNTED(X) POINT_TO_POINT(X) COLLECTIVES(X) COLLECTIVES_THAT_DO_NOT_BLOCK(X) AMONG_NEIGHBOURS(X) ONE_SIDED(X) ON_FILES(X)
#define COUNTED_NEW(X) X(Isendrecv) X(Isendrecv_replace) PERSISTENT_COLLECTIVES(X)

#if LARGE_COUNTS
#define LIST_OF_CALLS(X, LARGE) \
    COUNTED(X) REQUESTS(X) OTHERS(X) COUNTED_NEW(X) X(Barrier_init) PARTITIONED(X) COUNTED(LARGE) COUNTED_NEW(LARGE)
#elif NEW_IN_MPI_4
#define LIST_OF_CALLS(X, LARGE) COUNTED(X) REQUESTS(X) OTHERS(X) COUNTED_NEW(X) X(Barrier_init) PARTITIONED(X)
#else
#define LIST_OF_CALLS(X, LARGE) COUNTED(X) REQUESTS(X) OTHERS(X)
#endif

#define AS_ID(name) CALL_##name,
#define AS_NAME(name) "MPI_" #name,
#define AS_LARGE_ID(name) CALL_##name##_c,
#define AS_LARGE_NAME(name) "MPI_" #name "_c",
