/* How the tracer stands in for functions of MPI, in C and Fortran; and those functions that have no counts. Part of trace.c. */
/* `BYTES` is worked out after the call, so that it may count the message and look at what came back. */
#define IN_C(N, PARAMETERS, ARGUMENTS, WAIT, BYTES) IN_C_AS(N, PARAMETERS, ARGUMENTS, WAIT, BYTES)
#define IN_C_AS(N, PARAMETERS, ARGUMENTS, WAIT, BYTES) \
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

/* `count` is how many arguments there are in Fortran, which has the status for one more. */
#define ARGUMENTS_IN(...) FIFTEENTH(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define FIFTEENTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, number, ...) number
#define HAS_ONE_MORE(ARGUMENTS, count) _Static_assert(ARGUMENTS_IN ARGUMENTS + 1 == count, "arguments in Fortran");
#define CALL(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES) \
    HAS_ONE_MORE(ARGUMENTS, count) \
    IN_C(N, PARAMETERS, ARGUMENTS, 0, BYTES) \
    IN_FORTRAN(N, name, count, 0, FORTRAN_BYTES)
#define PLAIN(N, name, PARAMETERS, ARGUMENTS, count) CALL(N, name, PARAMETERS, ARGUMENTS, count, 0, 0)
#define WAITING(N, name, PARAMETERS, ARGUMENTS, count, COMM, BYTES, FORTRAN_BYTES) \
    HAS_ONE_MORE(ARGUMENTS, count) \
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
#define TAKES_12 TAKES_11, void *l
#define TAKES_13 TAKES_12, void *m
#define TAKES_14 TAKES_13, void *n
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
#define GIVES_12 GIVES_11, l
#define GIVES_13 GIVES_12, m
#define GIVES_14 GIVES_13, n

/* A Fortran argument is the address of a value; handles are numbers there. */
#define NUMBER(x) (*(MPI_Fint *)(x))
#define COMM(x) PMPI_Comm_f2c(NUMBER(x))
#define TYPE(x) PMPI_Type_f2c(NUMBER(x))
#define WIN(x) PMPI_Win_f2c(NUMBER(x))
#define REQUEST(x) PMPI_Request_f2c(NUMBER(x))
#define BYTES(count, type) bytes_of(NUMBER(count), TYPE(type))

/* A collective, and the one that does not block, which has a request more; from MPI 4 on also the persistent one, with an info and a request. */
#define LIST(...) __VA_ARGS__
#define COLLECTIVE(N, name, PARAMETERS, ARGUMENTS, count, COMM, BYTES, FORTRAN_BYTES) \
    WAITING(OF(N), name, (LIST PARAMETERS), (LIST ARGUMENTS), count, COMM, BYTES, FORTRAN_BYTES) \
    NO_WAIT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES)
/* Among neighbours: who waits for whom is not known, so that no wait is told. */
#define NEIGHBOURHOOD(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES) \
    CALL(OF(N), name, (LIST PARAMETERS), (LIST ARGUMENTS), count, BYTES, FORTRAN_BYTES) \
    NO_WAIT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES)
#define NO_WAIT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES) \
    CALL(OF(I##name), i##name, (LIST PARAMETERS, MPI_Request *request), (LIST ARGUMENTS, request), ONE_MORE_##count, BYTES, FORTRAN_BYTES) \
    PERSISTENT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES)
#if NEW_IN_MPI_4
#define PERSISTENT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES) \
    CALL(OF(N##_init), name##_init, (LIST PARAMETERS, MPI_Info info, MPI_Request *request), (LIST ARGUMENTS, info, request), TWO_MORE_##count, \
         prepared_for_all(*request, BYTES), prepared_for_all(REQUEST_AFTER_##count, FORTRAN_BYTES))
#else
#define PERSISTENT(N, name, PARAMETERS, ARGUMENTS, count, BYTES, FORTRAN_BYTES)
#endif
#define ONE_MORE_2 3
#define ONE_MORE_6 7
#define ONE_MORE_7 8
#define ONE_MORE_8 9
#define ONE_MORE_9 10
#define ONE_MORE_10 11
#define TWO_MORE_2 4
#define TWO_MORE_6 8
#define TWO_MORE_7 9
#define TWO_MORE_8 10
#define TWO_MORE_9 11
#define TWO_MORE_10 12
#define REQUEST_AFTER_2 REQUEST(c)
#define REQUEST_AFTER_6 REQUEST(g)
#define REQUEST_AFTER_7 REQUEST(h)
#define REQUEST_AFTER_8 REQUEST(i)
#define REQUEST_AFTER_9 REQUEST(j)
#define REQUEST_AFTER_10 REQUEST(k)

CALL(Start, start, (MPI_Request *request), (request), 2, begun(*request), begun(REQUEST(a)))
CALL(Startall, startall, (int count, MPI_Request requests[]), (count, requests), 3, begun_all(count, requests),
     begun_all_in_fortran(NUMBER(a), b))
PLAIN(Cancel, cancel, (MPI_Request *request), (request), 2)
PLAIN(Request_get_status, request_get_status, (MPI_Request request, int *flag, MPI_Status *answer), (request, flag, answer), 4)
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

#define OF(N) N
COLLECTIVE(Barrier, barrier, (MPI_Comm comm), (comm), 2, COMM(a), 0, 0)
#undef OF

/* One-sided. */
CALL(Fetch_and_op, fetch_and_op, (const void *buffer, void *into, MPI_Datatype type, int to, MPI_Aint displacement, MPI_Op op, MPI_Win window),
     (buffer, into, type, to, displacement, op, window), 8, put(window, to, bytes_of(1, type)), put(WIN(g), NUMBER(d), bytes_of(1, TYPE(c))))
CALL(Compare_and_swap, compare_and_swap,
     (const void *buffer, const void *compare, void *into, MPI_Datatype type, int to, MPI_Aint displacement, MPI_Win window),
     (buffer, compare, into, type, to, displacement, window), 8, put(window, to, bytes_of(1, type)), put(WIN(g), NUMBER(e), bytes_of(1, TYPE(d))))
PLAIN(Win_create_dynamic, win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window), (info, comm, window), 4)
PLAIN(Win_fence, win_fence, (int assertion, MPI_Win window), (assertion, window), 3)
PLAIN(Win_lock, win_lock, (int kind, int rank, int assertion, MPI_Win window), (kind, rank, assertion, window), 5)
PLAIN(Win_unlock, win_unlock, (int rank, MPI_Win window), (rank, window), 3)
PLAIN(Win_lock_all, win_lock_all, (int assertion, MPI_Win window), (assertion, window), 3)
PLAIN(Win_unlock_all, win_unlock_all, (MPI_Win window), (window), 2)
PLAIN(Win_flush, win_flush, (int rank, MPI_Win window), (rank, window), 3)
PLAIN(Win_flush_all, win_flush_all, (MPI_Win window), (window), 2)
PLAIN(Win_flush_local, win_flush_local, (int rank, MPI_Win window), (rank, window), 3)
PLAIN(Win_flush_local_all, win_flush_local_all, (MPI_Win window), (window), 2)
PLAIN(Win_sync, win_sync, (MPI_Win window), (window), 2)
PLAIN(Win_post, win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window), 4)
PLAIN(Win_start, win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window), 4)
PLAIN(Win_complete, win_complete, (MPI_Win window), (window), 2)
PLAIN(Win_wait, win_wait, (MPI_Win window), (window), 2)
PLAIN(Win_test, win_test, (MPI_Win window, int *flag), (window, flag), 3)

/* Files of MPI. Names of files and of representations are text, which Fortran passes in ways of its own: there only the C forms count. */
IN_C(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file), (comm, name, mode, info, file), 0, 0)
IN_C(File_set_view, (MPI_File file, MPI_Offset offset, MPI_Datatype type, MPI_Datatype as, const char *name, MPI_Info info),
     (file, offset, type, as, name, info), 0, 0)
PLAIN(File_close, file_close, (MPI_File *file), (file), 2)
PLAIN(File_sync, file_sync, (MPI_File file), (file), 2)
#define END(name, BUFFER) PLAIN(File_##name, file_##name, (MPI_File file, BUFFER, MPI_Status *answer), (file, buffer, answer), 4)
END(read_all_end, void *buffer)
END(write_all_end, const void *buffer)
END(read_at_all_end, void *buffer)
END(write_at_all_end, const void *buffer)
END(read_ordered_end, void *buffer)
END(write_ordered_end, const void *buffer)

PLAIN(Comm_dup, comm_dup, (MPI_Comm comm, MPI_Comm *copy), (comm, copy), 3)
PLAIN(Comm_dup_with_info, comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *copy), (comm, info, copy), 4)
PLAIN(Comm_idup, comm_idup, (MPI_Comm comm, MPI_Comm *copy, MPI_Request *request), (comm, copy, request), 4)
PLAIN(Comm_split_type, comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *part), (comm, kind, key, info, part), 6)
PLAIN(Comm_create_group, comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made), 5)
PLAIN(Comm_split, comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *part), (comm, colour, key, part), 5)
PLAIN(Comm_create, comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), 4)
PLAIN(Cart_create, cart_create, (MPI_Comm comm, int axes, const int lengths[], const int closed[], int reorder, MPI_Comm *made),
      (comm, axes, lengths, closed, reorder, made), 7)
PLAIN(Cart_sub, cart_sub, (MPI_Comm comm, const int stays[], MPI_Comm *part), (comm, stays, part), 4)
PLAIN(Graph_create, graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made),
      (comm, nodes, index, edges, reorder, made), 7)
PLAIN(Dist_graph_create, dist_graph_create,
      (MPI_Comm comm, int nodes, const int from[], const int degrees[], const int to[], const int weights[], MPI_Info info, int reorder,
       MPI_Comm *made),
      (comm, nodes, from, degrees, to, weights, info, reorder, made), 10)
PLAIN(Dist_graph_create_adjacent, dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int from[], const int weights_in[], int out, const int to[], const int weights_out[], MPI_Info info, int reorder,
       MPI_Comm *made),
      (comm, in, from, weights_in, out, to, weights_out, info, reorder, made), 11)
PLAIN(Intercomm_create, intercomm_create, (MPI_Comm comm, int leader, MPI_Comm both, int other, int tag, MPI_Comm *made),
      (comm, leader, both, other, tag, made), 7)
PLAIN(Intercomm_merge, intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made), 4)

/* What goes is forgotten before the call: afterwards its name may be another's, or of nothing. */
#define GOING(N, name, KIND, FORGET, FORTRAN_FORGET) \
    IN_C(N, (KIND *handle), (handle), (FORGET, 0), 0) \
    IN_FORTRAN(N, name, 2, (FORTRAN_FORGET, 0), 0)
GOING(Comm_free, comm_free, MPI_Comm, forget(COMM_PLACE(*handle)), forget(COMM_PLACE(COMM(a))))
GOING(Comm_disconnect, comm_disconnect, MPI_Comm, forget(COMM_PLACE(*handle)), forget(COMM_PLACE(COMM(a))))
GOING(Win_free, win_free, MPI_Win, forget(WINDOW_PLACE(*handle)), forget(WINDOW_PLACE(WIN(a))))
GOING(Request_free, request_free, MPI_Request, released(*handle), released(REQUEST(a)))

#if NEW_IN_MPI_4
/* A message in partitions counts as a whole, when it is started. */
#define IN_PARTITIONS int partitions, MPI_Count count, MPI_Datatype type
CALL(Psend_init, psend_init, (const void *buffer, IN_PARTITIONS, int to, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (buffer, partitions, count, type, to, tag, comm, info, request), 10, prepared(*request, comm, to, bytes_of(partitions * (int64_t)count, type)),
     prepared(REQUEST(i), COMM(g), NUMBER(e), bytes_of(NUMBER(b) * (int64_t)*(MPI_Count *)c, TYPE(d))))
PLAIN(Precv_init, precv_init, (void *buffer, IN_PARTITIONS, int from, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (buffer, partitions, count, type, from, tag, comm, info, request), 10)
PLAIN(Pready, pready, (int partition, MPI_Request request), (partition, request), 3)
PLAIN(Pready_range, pready_range, (int first, int last, MPI_Request request), (first, last, request), 4)
PLAIN(Parrived, parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag), 4)
/* Some headers say `const` of the list and some do not: here is the symbol alone, without their declaration. */
int ready_list(int count, int *list, MPI_Request request) __asm__("MPI_Pready_list");
int ready_list(int count, int *list, MPI_Request request)
{
    uint64_t began = enter();
    int status = PMPI_Pready_list(count, list, request);
    if (began)
        record(CALL_Pready_list, began, now(), 0, 0);
    inside--;
    return status;
}
IN_FORTRAN(Pready_list, pready_list, 4, 0, 0)
#endif
