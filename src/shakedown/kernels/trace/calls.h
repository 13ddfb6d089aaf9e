/* The functions of MPI that the tracer stands in for, in C and Fortran. Part of trace.c. */
/* `BYTES` is worked out after the call, so that it may count the message and look at what came back. */
#define IN_C(N, PARAMETERS, ARGUMENTS, WAIT, BYTES) \
    int MPI_##N PARAMETERS \
    { \
        uint64_t began = enter(); \
        int64_t wait = WAIT; \
        int status = PMPI_##N ARGUMENTS; \
        if (began) { \
            uint64_t ended = now(); \
            record(CALL_##N, began, ended, BYTES, wait); \
        } \
        inside--; \
        return status; \
    }

#define IN_FORTRAN_AS(N, symbol, count, WAIT, BYTES) \
    void symbol(TAKES_##count); \
    void symbol(TAKES_##count) \
    { \
        static void (*next)(TAKES_##count); \
        if (!next) \
            *(void **)&next = next_of(#symbol); \
        uint64_t began = enter(); \
        int64_t wait = WAIT; \
        next(GIVES_##count); \
        if (began) { \
            uint64_t ended = now(); \
            record(CALL_##N, began, ended, BYTES, wait); \
        } \
        inside--; \
    }

/* Compilers write a Fortran name in one of three ways; the module mpi_f08 of Open MPI has names of its own. */
#define IN_FORTRAN(N, name, count, WAIT, BYTES) \
    IN_FORTRAN_AS(N, mpi_##name##_, count, WAIT, BYTES) \
    IN_FORTRAN_AS(N, mpi_##name##__, count, WAIT, BYTES) \
    IN_FORTRAN_AS(N, mpi_##name, count, WAIT, BYTES) \
    IN_FORTRAN_AS(N, mpi_##name##_f08_, count, WAIT, BYTES)

#define CALL(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES) \
    IN_C(N, PARAMETERS, ARGUMENTS, 0, BYTES) \
    IN_FORTRAN(N, name, count, 0, FORTRAN_BYTES)
#define PLAIN(N, name, PARAMETERS, ARGUMENTS, count) CALL(N, name, PARAMETERS, ARGUMENTS, count, 0, 0)
#define WAITING(N, name, PARAMETERS, ARGUMENTS, count, COMM, BYTES, FORTRAN_BYTES) \
    IN_C(N, PARAMETERS, ARGUMENTS, wait_for_all(comm, began), BYTES) \
    IN_FORTRAN(N, name, count, wait_for_all(COMM, began), FORTRAN_BYTES)

#define TAKES_2 void *a, void *b
#define TAKES_3 TAKES_2, void *c
#define TAKES_4 TAKES_3, void *d
#define TAKES_5 TAKES_4, void *e
#define TAKES_6 TAKES_5, void *f
#define TAKES_7 TAKES_6, void *g
#define TAKES_8 TAKES_7, void *h
#define TAKES_9 TAKES_8, void *i
#define TAKES_10 TAKES_9, void *j
#define TAKES_11 TAKES_10, void *k
#define TAKES_13 TAKES_11, void *l, void *m
#define GIVES_2 a, b
#define GIVES_3 GIVES_2, c
#define GIVES_4 GIVES_3, d
#define GIVES_5 GIVES_4, e
#define GIVES_6 GIVES_5, f
#define GIVES_7 GIVES_6, g
#define GIVES_8 GIVES_7, h
#define GIVES_9 GIVES_8, i
#define GIVES_10 GIVES_9, j
#define GIVES_11 GIVES_10, k
#define GIVES_13 GIVES_11, l, m

/* A Fortran argument is the address of a value; handles are numbers there. */
#define NUMBER(x) (*(MPI_Fint *)(x))
#define COMM(x) PMPI_Comm_f2c(NUMBER(x))
#define TYPE(x) PMPI_Type_f2c(NUMBER(x))
#define WIN(x) PMPI_Win_f2c(NUMBER(x))
#define REQUEST(x) PMPI_Request_f2c(NUMBER(x))
#define BYTES(count, type) bytes_of(NUMBER(count), TYPE(type))

#define BUFFER const void *buffer, int count, MPI_Datatype type
#define SEND(N, name) \
    CALL(N, name, (BUFFER, int to, int tag, MPI_Comm comm), (buffer, count, type, to, tag, comm), 7, \
         sent(comm, to, bytes_of(count, type)), sent(COMM(f), NUMBER(d), BYTES(b, c)))
#define ISEND(N, name) \
    CALL(N, name, (BUFFER, int to, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, to, tag, comm, request), 8, \
         sent(comm, to, bytes_of(count, type)), sent(COMM(f), NUMBER(d), BYTES(b, c)))
#define SEND_INIT(N, name) \
    CALL(N, name, (BUFFER, int to, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, to, tag, comm, request), 8, \
         prepared(*request, comm, to, bytes_of(count, type)), prepared(REQUEST(g), COMM(f), NUMBER(d), BYTES(b, c)))

SEND(Send, send)
SEND(Ssend, ssend)
SEND(Bsend, bsend)
SEND(Rsend, rsend)
ISEND(Isend, isend)
ISEND(Issend, issend)
ISEND(Ibsend, ibsend)
ISEND(Irsend, irsend)
SEND_INIT(Send_init, send_init)
SEND_INIT(Ssend_init, ssend_init)
SEND_INIT(Bsend_init, bsend_init)
SEND_INIT(Rsend_init, rsend_init)

#define INTO void *buffer, int count, MPI_Datatype type
PLAIN(Recv, recv, (INTO, int from, int tag, MPI_Comm comm, MPI_Status *answer), (buffer, count, type, from, tag, comm, answer), 8)
PLAIN(Irecv, irecv, (INTO, int from, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, from, tag, comm, request), 8)
PLAIN(Recv_init, recv_init, (INTO, int from, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, from, tag, comm, request), 8)
PLAIN(Mrecv, mrecv, (INTO, MPI_Message *message, MPI_Status *answer), (buffer, count, type, message, answer), 6)
PLAIN(Imrecv, imrecv, (INTO, MPI_Message *message, MPI_Request *request), (buffer, count, type, message, request), 6)
CALL(Sendrecv, sendrecv,
     (BUFFER, int to, int tag, void *into, int most, MPI_Datatype as, int from, int other, MPI_Comm comm, MPI_Status *answer),
     (buffer, count, type, to, tag, into, most, as, from, other, comm, answer), 13,
     sent(comm, to, bytes_of(count, type)), sent(COMM(k), NUMBER(d), BYTES(b, c)))
CALL(Sendrecv_replace, sendrecv_replace, (INTO, int to, int tag, int from, int other, MPI_Comm comm, MPI_Status *answer),
     (buffer, count, type, to, tag, from, other, comm, answer), 10, sent(comm, to, bytes_of(count, type)), sent(COMM(h), NUMBER(d), BYTES(b, c)))
CALL(Start, start, (MPI_Request *request), (request), 2, begun(*request), begun(REQUEST(a)))
CALL(Startall, startall, (int count, MPI_Request requests[]), (count, requests), 3, begun_all(count, requests),
     begun_all_in_fortran(NUMBER(a), b))

PLAIN(Wait, wait, (MPI_Request *request, MPI_Status *answer), (request, answer), 3)
PLAIN(Waitall, waitall, (int count, MPI_Request requests[], MPI_Status answers[]), (count, requests, answers), 4)
PLAIN(Waitany, waitany, (int count, MPI_Request requests[], int *which, MPI_Status *answer), (count, requests, which, answer), 5)
PLAIN(Waitsome, waitsome, (int count, MPI_Request requests[], int *done, int which[], MPI_Status answers[]),
      (count, requests, done, which, answers), 6)
PLAIN(Test, test, (MPI_Request *request, int *flag, MPI_Status *answer), (request, flag, answer), 4)
PLAIN(Testall, testall, (int count, MPI_Request requests[], int *flag, MPI_Status answers[]), (count, requests, flag, answers), 5)
PLAIN(Testany, testany, (int count, MPI_Request requests[], int *which, int *flag, MPI_Status *answer),
      (count, requests, which, flag, answer), 6)
PLAIN(Testsome, testsome, (int count, MPI_Request requests[], int *done, int which[], MPI_Status answers[]),
      (count, requests, done, which, answers), 6)
PLAIN(Probe, probe, (int from, int tag, MPI_Comm comm, MPI_Status *answer), (from, tag, comm, answer), 5)
PLAIN(Iprobe, iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *answer), (from, tag, comm, flag, answer), 6)
PLAIN(Mprobe, mprobe, (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *answer), (from, tag, comm, message, answer), 6)
PLAIN(Improbe, improbe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *answer),
      (from, tag, comm, flag, message, answer), 7)

/* A collective, and the one that does not block, which has a request more. */
#define LIST(...) __VA_ARGS__
#define COLLECTIVE(N, name, PARAMETERS, ARGUMENTS, count, COMM, BYTES, FORTRAN_BYTES) \
    WAITING(N, name, (LIST PARAMETERS), (LIST ARGUMENTS), count, COMM, BYTES, FORTRAN_BYTES)
#define NO_WAIT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES) \
    CALL(N, name, (LIST PARAMETERS, MPI_Request *request), (LIST ARGUMENTS, request), count, BYTES, FORTRAN_BYTES)

COLLECTIVE(Barrier, barrier, (MPI_Comm comm), (comm), 2, COMM(a), 0, 0)
NO_WAIT(Ibarrier, ibarrier, (MPI_Comm comm), (comm), 3, 0, 0)

#define BCAST_C is_root(root, comm) ? bytes_of(count, type) : 0
#define BCAST_F is_root(NUMBER(d), COMM(e)) ? BYTES(b, c) : 0
COLLECTIVE(Bcast, bcast, (INTO, int root, MPI_Comm comm), (buffer, count, type, root, comm), 6, COMM(e), BCAST_C, BCAST_F)
NO_WAIT(Ibcast, ibcast, (INTO, int root, MPI_Comm comm), (buffer, count, type, root, comm), 7, BCAST_C, BCAST_F)

#define COMBINE const void *buffer, void *into, int count, MPI_Datatype type, MPI_Op op
#define COMBINED buffer, into, count, type, op
COLLECTIVE(Reduce, reduce, (COMBINE, int root, MPI_Comm comm), (COMBINED, root, comm), 8, COMM(g), bytes_of(count, type), BYTES(c, d))
NO_WAIT(Ireduce, ireduce, (COMBINE, int root, MPI_Comm comm), (COMBINED, root, comm), 9, bytes_of(count, type), BYTES(c, d))
#define LIKE_ALLREDUCE(N, name, I, iname) \
    COLLECTIVE(N, name, (COMBINE, MPI_Comm comm), (COMBINED, comm), 7, COMM(f), bytes_of(count, type), BYTES(c, d)) \
    NO_WAIT(I, iname, (COMBINE, MPI_Comm comm), (COMBINED, comm), 8, bytes_of(count, type), BYTES(c, d))
LIKE_ALLREDUCE(Allreduce, allreduce, Iallreduce, iallreduce)
LIKE_ALLREDUCE(Scan, scan, Iscan, iscan)
LIKE_ALLREDUCE(Exscan, exscan, Iexscan, iexscan)
#define BLOCK_C bytes_of((int64_t)count * members(comm), type)
#define BLOCK_F bytes_of((int64_t)NUMBER(c) * members(COMM(f)), TYPE(d))
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, (COMBINE, MPI_Comm comm), (COMBINED, comm), 7, COMM(f), BLOCK_C, BLOCK_F)
NO_WAIT(Ireduce_scatter_block, ireduce_scatter_block, (COMBINE, MPI_Comm comm), (COMBINED, comm), 8, BLOCK_C, BLOCK_F)
#define SPLIT const void *buffer, void *into, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define SPLIT_GIVEN buffer, into, counts, type, op, comm
COLLECTIVE(Reduce_scatter, reduce_scatter, (SPLIT), (SPLIT_GIVEN), 7, COMM(f), bytes_of(sum(counts, comm), type),
           bytes_of(sum(c, COMM(f)), TYPE(d)))
NO_WAIT(Ireduce_scatter, ireduce_scatter, (SPLIT), (SPLIT_GIVEN), 8, bytes_of(sum(counts, comm), type), bytes_of(sum(c, COMM(f)), TYPE(d)))

/* With MPI_IN_PLACE the rank gives the block that lies in its receive buffer. */
#define OUT const void *buffer, int count, MPI_Datatype type
#define IN void *into, int most, MPI_Datatype as
#define OUT_V const void *buffer, const int counts[], const int places[], MPI_Datatype type
#define IN_V void *into, const int most[], const int into_places[], MPI_Datatype as
#define GIVEN_C (buffer == MPI_IN_PLACE ? bytes_of(most, as) : bytes_of(count, type))
#define GIVEN_F (in_place(a) ? BYTES(e, f) : BYTES(b, c))
COLLECTIVE(Gather, gather, (OUT, IN, int root, MPI_Comm comm), (buffer, count, type, into, most, as, root, comm), 9, COMM(h), GIVEN_C, GIVEN_F)
NO_WAIT(Igather, igather, (OUT, IN, int root, MPI_Comm comm), (buffer, count, type, into, most, as, root, comm), 10, GIVEN_C, GIVEN_F)
COLLECTIVE(Allgather, allgather, (OUT, IN, MPI_Comm comm), (buffer, count, type, into, most, as, comm), 8, COMM(g), GIVEN_C, GIVEN_F)
NO_WAIT(Iallgather, iallgather, (OUT, IN, MPI_Comm comm), (buffer, count, type, into, most, as, comm), 9, GIVEN_C, GIVEN_F)

#define GIVEN_V_C (buffer == MPI_IN_PLACE ? bytes_of(most[own_rank(comm)], as) : bytes_of(count, type))
#define GIVEN_V_F(as, comm) (in_place(a) ? bytes_of(((MPI_Fint *)e)[own_rank(comm)], TYPE(as)) : BYTES(b, c))
COLLECTIVE(Gatherv, gatherv, (OUT, IN_V, int root, MPI_Comm comm), (buffer, count, type, into, most, into_places, as, root, comm), 10,
           COMM(i), GIVEN_V_C, GIVEN_V_F(g, COMM(i)))
NO_WAIT(Igatherv, igatherv, (OUT, IN_V, int root, MPI_Comm comm), (buffer, count, type, into, most, into_places, as, root, comm), 11,
        GIVEN_V_C, GIVEN_V_F(g, COMM(i)))
COLLECTIVE(Allgatherv, allgatherv, (OUT, IN_V, MPI_Comm comm), (buffer, count, type, into, most, into_places, as, comm), 9, COMM(h),
           GIVEN_V_C, GIVEN_V_F(g, COMM(h)))
NO_WAIT(Iallgatherv, iallgatherv, (OUT, IN_V, MPI_Comm comm), (buffer, count, type, into, most, into_places, as, comm), 10, GIVEN_V_C,
        GIVEN_V_F(g, COMM(h)))

#define SCATTER_C is_root(root, comm) ? bytes_of((int64_t)count * members(comm), type) : 0
#define SCATTER_F is_root(NUMBER(g), COMM(h)) ? bytes_of((int64_t)NUMBER(b) * members(COMM(h)), TYPE(c)) : 0
COLLECTIVE(Scatter, scatter, (OUT, IN, int root, MPI_Comm comm), (buffer, count, type, into, most, as, root, comm), 9, COMM(h), SCATTER_C, SCATTER_F)
NO_WAIT(Iscatter, iscatter, (OUT, IN, int root, MPI_Comm comm), (buffer, count, type, into, most, as, root, comm), 10, SCATTER_C, SCATTER_F)
#define SCATTERV_C is_root(root, comm) ? bytes_of(sum(counts, comm), type) : 0
#define SCATTERV_F is_root(NUMBER(h), COMM(i)) ? bytes_of(sum(b, COMM(i)), TYPE(d)) : 0
COLLECTIVE(Scatterv, scatterv, (OUT_V, IN, int root, MPI_Comm comm), (buffer, counts, places, type, into, most, as, root, comm), 10, COMM(i),
           SCATTERV_C, SCATTERV_F)
NO_WAIT(Iscatterv, iscatterv, (OUT_V, IN, int root, MPI_Comm comm), (buffer, counts, places, type, into, most, as, root, comm), 11, SCATTERV_C,
        SCATTERV_F)

#define ALLTOALL_C members(comm) * GIVEN_C
#define ALLTOALL_F members(COMM(g)) * GIVEN_F
COLLECTIVE(Alltoall, alltoall, (OUT, IN, MPI_Comm comm), (buffer, count, type, into, most, as, comm), 8, COMM(g), ALLTOALL_C, ALLTOALL_F)
NO_WAIT(Ialltoall, ialltoall, (OUT, IN, MPI_Comm comm), (buffer, count, type, into, most, as, comm), 9, ALLTOALL_C, ALLTOALL_F)
#define ALLTOALLV_C buffer == MPI_IN_PLACE ? bytes_of(sum(most, comm), as) : bytes_of(sum(counts, comm), type)
#define ALLTOALLV_F in_place(a) ? bytes_of(sum(f, COMM(i)), TYPE(h)) : bytes_of(sum(b, COMM(i)), TYPE(d))
COLLECTIVE(Alltoallv, alltoallv, (OUT_V, IN_V, MPI_Comm comm), (buffer, counts, places, type, into, most, into_places, as, comm), 10, COMM(i),
           ALLTOALLV_C, ALLTOALLV_F)
NO_WAIT(Ialltoallv, ialltoallv, (OUT_V, IN_V, MPI_Comm comm), (buffer, counts, places, type, into, most, into_places, as, comm), 11,
        ALLTOALLV_C, ALLTOALLV_F)
#define OUT_W const void *buffer, const int counts[], const int places[], const MPI_Datatype types[]
#define IN_W void *into, const int most[], const int into_places[], const MPI_Datatype as[]
#define ALLTOALLW_C buffer == MPI_IN_PLACE ? bytes_of_each(most, as, members(comm)) : bytes_of_each(counts, types, members(comm))
#define ALLTOALLW_F in_place(a) ? bytes_of_each_in_fortran(f, h, members(COMM(i))) : bytes_of_each_in_fortran(b, d, members(COMM(i)))
COLLECTIVE(Alltoallw, alltoallw, (OUT_W, IN_W, MPI_Comm comm), (buffer, counts, places, types, into, most, into_places, as, comm), 10,
           COMM(i), ALLTOALLW_C, ALLTOALLW_F)
NO_WAIT(Ialltoallw, ialltoallw, (OUT_W, IN_W, MPI_Comm comm), (buffer, counts, places, types, into, most, into_places, as, comm), 11,
        ALLTOALLW_C, ALLTOALLW_F)

/* Among neighbours: who waits for whom is not known, so that no wait is told. */
#define AMONG_NEIGHBOURS(N, name, I, iname, PARAMETERS, ARGUMENTS, count, more, BYTES, FORTRAN_BYTES) \
    CALL(N, name, (LIST PARAMETERS), (LIST ARGUMENTS), count, BYTES, FORTRAN_BYTES) \
    NO_WAIT(I, iname, PARAMETERS, ARGUMENTS, more, BYTES, FORTRAN_BYTES)
#define OUT_N const void *buffer, const int counts[], const MPI_Aint places[], const MPI_Datatype types[]
#define IN_N void *into, const int most[], const MPI_Aint into_places[], const MPI_Datatype as[]
AMONG_NEIGHBOURS(Neighbor_allgather, neighbor_allgather, Ineighbor_allgather, ineighbor_allgather, (OUT, IN, MPI_Comm comm),
                 (buffer, count, type, into, most, as, comm), 8, 9, bytes_of(count, type), BYTES(b, c))
AMONG_NEIGHBOURS(Neighbor_allgatherv, neighbor_allgatherv, Ineighbor_allgatherv, ineighbor_allgatherv, (OUT, IN_V, MPI_Comm comm),
                 (buffer, count, type, into, most, into_places, as, comm), 9, 10, bytes_of(count, type), BYTES(b, c))
AMONG_NEIGHBOURS(Neighbor_alltoall, neighbor_alltoall, Ineighbor_alltoall, ineighbor_alltoall, (OUT, IN, MPI_Comm comm),
                 (buffer, count, type, into, most, as, comm), 8, 9, neighbours(comm) * bytes_of(count, type), neighbours(COMM(g)) * BYTES(b, c))
AMONG_NEIGHBOURS(Neighbor_alltoallv, neighbor_alltoallv, Ineighbor_alltoallv, ineighbor_alltoallv, (OUT_V, IN_V, MPI_Comm comm),
                 (buffer, counts, places, type, into, most, into_places, as, comm), 10, 11,
                 bytes_of(sum_of(counts, neighbours(comm)), type), bytes_of(sum_of(b, neighbours(COMM(i))), TYPE(d)))
AMONG_NEIGHBOURS(Neighbor_alltoallw, neighbor_alltoallw, Ineighbor_alltoallw, ineighbor_alltoallw, (OUT_N, IN_N, MPI_Comm comm),
                 (buffer, counts, places, types, into, most, into_places, as, comm), 10, 11,
                 bytes_of_each(counts, types, neighbours(comm)), bytes_of_each_in_fortran(b, d, neighbours(COMM(i))))

/* One-sided: Get counts what it asks for, at the rank that asks. */
#define AT int to, MPI_Aint displacement, int most, MPI_Datatype as
#define PUT_C put(window, to, bytes_of(count, type))
#define PUT_F(win) put(WIN(win), NUMBER(d), BYTES(b, c))
#define SIDED(N, name, BUFFER) CALL(N, name, (BUFFER, AT, MPI_Win window), (buffer, count, type, to, displacement, most, as, window), 9, PUT_C, PUT_F(h))
#define RSIDED(N, name, BUFFER) \
    CALL(N, name, (BUFFER, AT, MPI_Win window, MPI_Request *request), (buffer, count, type, to, displacement, most, as, window, request), 10, PUT_C, PUT_F(h))
SIDED(Put, put, OUT)
SIDED(Get, get, INTO)
RSIDED(Rput, rput, OUT)
RSIDED(Rget, rget, INTO)
CALL(Accumulate, accumulate, (OUT, AT, MPI_Op op, MPI_Win window), (buffer, count, type, to, displacement, most, as, op, window), 10, PUT_C, PUT_F(i))
CALL(Raccumulate, raccumulate, (OUT, AT, MPI_Op op, MPI_Win window, MPI_Request *request),
     (buffer, count, type, to, displacement, most, as, op, window, request), 11, PUT_C, PUT_F(i))
CALL(Get_accumulate, get_accumulate, (OUT, void *into, int wanted, MPI_Datatype wanted_as, AT, MPI_Op op, MPI_Win window),
     (buffer, count, type, into, wanted, wanted_as, to, displacement, most, as, op, window), 13, PUT_C, put(WIN(l), NUMBER(g), BYTES(b, c)))
CALL(Fetch_and_op, fetch_and_op, (const void *buffer, void *into, MPI_Datatype type, int to, MPI_Aint displacement, MPI_Op op, MPI_Win window),
     (buffer, into, type, to, displacement, op, window), 8, put(window, to, bytes_of(1, type)), put(WIN(g), NUMBER(d), bytes_of(1, TYPE(c))))
CALL(Compare_and_swap, compare_and_swap,
     (const void *buffer, const void *compare, void *into, MPI_Datatype type, int to, MPI_Aint displacement, MPI_Win window),
     (buffer, compare, into, type, to, displacement, window), 8, put(window, to, bytes_of(1, type)), put(WIN(g), NUMBER(e), bytes_of(1, TYPE(d))))
PLAIN(Win_allocate, win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
      (size, unit, info, comm, memory, window), 7)
PLAIN(Win_allocate_shared, win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
      (size, unit, info, comm, memory, window), 7)
PLAIN(Win_create, win_create, (void *memory, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window),
      (memory, size, unit, info, comm, window), 7)
PLAIN(Win_fence, win_fence, (int assertion, MPI_Win window), (assertion, window), 3)
PLAIN(Win_lock, win_lock, (int kind, int rank, int assertion, MPI_Win window), (kind, rank, assertion, window), 5)
PLAIN(Win_unlock, win_unlock, (int rank, MPI_Win window), (rank, window), 3)
PLAIN(Win_lock_all, win_lock_all, (int assertion, MPI_Win window), (assertion, window), 3)
PLAIN(Win_unlock_all, win_unlock_all, (MPI_Win window), (window), 2)
PLAIN(Win_flush, win_flush, (int rank, MPI_Win window), (rank, window), 3)
PLAIN(Win_flush_all, win_flush_all, (MPI_Win window), (window), 2)
PLAIN(Win_post, win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window), 4)
PLAIN(Win_start, win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window), 4)
PLAIN(Win_complete, win_complete, (MPI_Win window), (window), 2)
PLAIN(Win_wait, win_wait, (MPI_Win window), (window), 2)

/* Files of MPI. The name of File_open is text, which Fortran passes in ways of its own: there only its C form counts. */
IN_C(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file), (comm, name, mode, info, file), 0, 0)
PLAIN(File_close, file_close, (MPI_File *file), (file), 2)
PLAIN(File_sync, file_sync, (MPI_File file), (file), 2)
#define ON_FILE(N, name, BUFFER) \
    CALL(N, name, (MPI_File file, BUFFER, MPI_Status *answer), (file, buffer, count, type, answer), 6, bytes_of(count, type), BYTES(c, d))
#define AT_PLACE(N, name, BUFFER) \
    CALL(N, name, (MPI_File file, MPI_Offset offset, BUFFER, MPI_Status *answer), (file, offset, buffer, count, type, answer), 7, \
         bytes_of(count, type), BYTES(d, e))
ON_FILE(File_read, file_read, INTO)
ON_FILE(File_write, file_write, OUT)
ON_FILE(File_read_all, file_read_all, INTO)
ON_FILE(File_write_all, file_write_all, OUT)
AT_PLACE(File_read_at, file_read_at, INTO)
AT_PLACE(File_write_at, file_write_at, OUT)
AT_PLACE(File_read_at_all, file_read_at_all, INTO)
AT_PLACE(File_write_at_all, file_write_at_all, OUT)

PLAIN(Comm_dup, comm_dup, (MPI_Comm comm, MPI_Comm *copy), (comm, copy), 3)
PLAIN(Comm_split, comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *part), (comm, colour, key, part), 5)
PLAIN(Comm_create, comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), 4)

/* What goes is forgotten before the call: afterwards its name may be another's, or of nothing. */
#define GOING(N, name, KIND, FORGET, FORTRAN_FORGET) \
    IN_C(N, (KIND *handle), (handle), (FORGET, 0), 0) \
    IN_FORTRAN(N, name, 2, (FORTRAN_FORGET, 0), 0)
GOING(Comm_free, comm_free, MPI_Comm, forget(COMM_PLACE(*handle)), forget(COMM_PLACE(COMM(a))))
GOING(Comm_disconnect, comm_disconnect, MPI_Comm, forget(COMM_PLACE(*handle)), forget(COMM_PLACE(COMM(a))))
GOING(Win_free, win_free, MPI_Win, forget(WINDOW_PLACE(*handle)), forget(WINDOW_PLACE(WIN(a))))
GOING(Request_free, request_free, MPI_Request, released(*handle), released(REQUEST(a)))
