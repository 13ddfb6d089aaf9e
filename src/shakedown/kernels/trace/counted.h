/* The functions of MPI that have counts. Part of trace.c, once with counts that are `int`, and once with large ones. `COUNT` is the type of a
 * count, `PLACE` that of a displacement in a buffer, and OF(name) the name. */
static int64_t OF(sum_of)(const COUNT *counts, int partners)
{
    int64_t all = 0;
    for (int i = 0; i < partners; i++)
        all += counts[i];
    return all;
}

static int64_t OF(sum)(const COUNT *counts, MPI_Comm comm) { return OF(sum_of)(counts, members(comm)); }

static int64_t OF(bytes_of_each)(const COUNT *counts, const MPI_Datatype *types, int partners)
{
    int64_t all = 0;
    for (int i = 0; i < partners; i++)
        all += bytes_of(counts[i], types[i]);
    return all;
}

#define BUFFER const void *buffer, COUNT count, MPI_Datatype type
#define SEND(N, name) \
    CALL(OF(N), name, (BUFFER, int to, int tag, MPI_Comm comm), (buffer, count, type, to, tag, comm), 7, \
         sent(comm, to, bytes_of(count, type)), sent(COMM(f), NUMBER(d), BYTES(b, c)))
#define ISEND(N, name) \
    CALL(OF(N), name, (BUFFER, int to, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, to, tag, comm, request), 8, \
         sent(comm, to, bytes_of(count, type)), sent(COMM(f), NUMBER(d), BYTES(b, c)))
#define SEND_INIT(N, name) \
    CALL(OF(N), name, (BUFFER, int to, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, to, tag, comm, request), 8, \
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

#define INTO void *buffer, COUNT count, MPI_Datatype type
PLAIN(OF(Recv), recv, (INTO, int from, int tag, MPI_Comm comm, MPI_Status *answer), (buffer, count, type, from, tag, comm, answer), 8)
PLAIN(OF(Irecv), irecv, (INTO, int from, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, from, tag, comm, request), 8)
PLAIN(OF(Recv_init), recv_init, (INTO, int from, int tag, MPI_Comm comm, MPI_Request *request), (buffer, count, type, from, tag, comm, request), 8)
PLAIN(OF(Mrecv), mrecv, (INTO, MPI_Message *message, MPI_Status *answer), (buffer, count, type, message, answer), 6)
PLAIN(OF(Imrecv), imrecv, (INTO, MPI_Message *message, MPI_Request *request), (buffer, count, type, message, request), 6)
CALL(OF(Sendrecv), sendrecv,
     (BUFFER, int to, int tag, void *into, COUNT most, MPI_Datatype as, int from, int other, MPI_Comm comm, MPI_Status *answer),
     (buffer, count, type, to, tag, into, most, as, from, other, comm, answer), 13,
     sent(comm, to, bytes_of(count, type)), sent(COMM(k), NUMBER(d), BYTES(b, c)))
CALL(OF(Sendrecv_replace), sendrecv_replace, (INTO, int to, int tag, int from, int other, MPI_Comm comm, MPI_Status *answer),
     (buffer, count, type, to, tag, from, other, comm, answer), 10, sent(comm, to, bytes_of(count, type)), sent(COMM(h), NUMBER(d), BYTES(b, c)))

#if NEW_IN_MPI_4
CALL(OF(Isendrecv), isendrecv,
     (BUFFER, int to, int tag, void *into, COUNT most, MPI_Datatype as, int from, int other, MPI_Comm comm, MPI_Request *request),
     (buffer, count, type, to, tag, into, most, as, from, other, comm, request), 13,
     sent(comm, to, bytes_of(count, type)), sent(COMM(k), NUMBER(d), BYTES(b, c)))
CALL(OF(Isendrecv_replace), isendrecv_replace, (INTO, int to, int tag, int from, int other, MPI_Comm comm, MPI_Request *request),
     (buffer, count, type, to, tag, from, other, comm, request), 10, sent(comm, to, bytes_of(count, type)), sent(COMM(h), NUMBER(d), BYTES(b, c)))
#endif

#define BCAST_C is_root(root, comm) ? bytes_of(count, type) : 0
#define BCAST_F is_root(NUMBER(d), COMM(e)) ? BYTES(b, c) : 0
COLLECTIVE(Bcast, bcast, (INTO, int root, MPI_Comm comm), (buffer, count, type, root, comm), 6, COMM(e), BCAST_C, BCAST_F)

#define COMBINE const void *buffer, void *into, COUNT count, MPI_Datatype type, MPI_Op op
#define COMBINED buffer, into, count, type, op
COLLECTIVE(Reduce, reduce, (COMBINE, int root, MPI_Comm comm), (COMBINED, root, comm), 8, COMM(g), bytes_of(count, type), BYTES(c, d))
#define LIKE_ALLREDUCE(N, name) COLLECTIVE(N, name, (COMBINE, MPI_Comm comm), (COMBINED, comm), 7, COMM(f), bytes_of(count, type), BYTES(c, d))
LIKE_ALLREDUCE(Allreduce, allreduce)
LIKE_ALLREDUCE(Scan, scan)
LIKE_ALLREDUCE(Exscan, exscan)
#define BLOCK_C bytes_of((int64_t)count * members(comm), type)
#define BLOCK_F bytes_of((int64_t)NUMBER(c) * members(COMM(f)), TYPE(d))
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, (COMBINE, MPI_Comm comm), (COMBINED, comm), 7, COMM(f), BLOCK_C, BLOCK_F)
#define SPLIT const void *buffer, void *into, const COUNT counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define SPLIT_GIVEN buffer, into, counts, type, op, comm
COLLECTIVE(Reduce_scatter, reduce_scatter, (SPLIT), (SPLIT_GIVEN), 7, COMM(f), bytes_of(OF(sum)(counts, comm), type),
           bytes_of(OF(sum)(c, COMM(f)), TYPE(d)))

/* With MPI_IN_PLACE the rank gives the block that lies in its receive buffer. */
#define OUT const void *buffer, COUNT count, MPI_Datatype type
#define IN void *into, COUNT most, MPI_Datatype as
#define OUT_V const void *buffer, const COUNT counts[], const PLACE places[], MPI_Datatype type
#define IN_V void *into, const COUNT most[], const PLACE into_places[], MPI_Datatype as
#define GIVEN_C (buffer == MPI_IN_PLACE ? bytes_of(most, as) : bytes_of(count, type))
#define GIVEN_F (in_place(a) ? BYTES(e, f) : BYTES(b, c))
COLLECTIVE(Gather, gather, (OUT, IN, int root, MPI_Comm comm), (buffer, count, type, into, most, as, root, comm), 9, COMM(h), GIVEN_C, GIVEN_F)
COLLECTIVE(Allgather, allgather, (OUT, IN, MPI_Comm comm), (buffer, count, type, into, most, as, comm), 8, COMM(g), GIVEN_C, GIVEN_F)

#define GIVEN_V_C (buffer == MPI_IN_PLACE ? bytes_of(most[own_rank(comm)], as) : bytes_of(count, type))
#define GIVEN_V_F(as, comm) (in_place(a) ? bytes_of(((MPI_Fint *)e)[own_rank(comm)], TYPE(as)) : BYTES(b, c))
COLLECTIVE(Gatherv, gatherv, (OUT, IN_V, int root, MPI_Comm comm), (buffer, count, type, into, most, into_places, as, root, comm), 10,
           COMM(i), GIVEN_V_C, GIVEN_V_F(g, COMM(i)))
COLLECTIVE(Allgatherv, allgatherv, (OUT, IN_V, MPI_Comm comm), (buffer, count, type, into, most, into_places, as, comm), 9, COMM(h),
           GIVEN_V_C, GIVEN_V_F(g, COMM(h)))

#define SCATTER_C is_root(root, comm) ? bytes_of((int64_t)count * members(comm), type) : 0
#define SCATTER_F is_root(NUMBER(g), COMM(h)) ? bytes_of((int64_t)NUMBER(b) * members(COMM(h)), TYPE(c)) : 0
COLLECTIVE(Scatter, scatter, (OUT, IN, int root, MPI_Comm comm), (buffer, count, type, into, most, as, root, comm), 9, COMM(h), SCATTER_C, SCATTER_F)
#define SCATTERV_C is_root(root, comm) ? bytes_of(OF(sum)(counts, comm), type) : 0
#define SCATTERV_F is_root(NUMBER(h), COMM(i)) ? bytes_of(OF(sum)(b, COMM(i)), TYPE(d)) : 0
COLLECTIVE(Scatterv, scatterv, (OUT_V, IN, int root, MPI_Comm comm), (buffer, counts, places, type, into, most, as, root, comm), 10, COMM(i),
           SCATTERV_C, SCATTERV_F)

#define ALLTOALL_C members(comm) * GIVEN_C
#define ALLTOALL_F members(COMM(g)) * GIVEN_F
COLLECTIVE(Alltoall, alltoall, (OUT, IN, MPI_Comm comm), (buffer, count, type, into, most, as, comm), 8, COMM(g), ALLTOALL_C, ALLTOALL_F)
#define ALLTOALLV_C buffer == MPI_IN_PLACE ? bytes_of(OF(sum)(most, comm), as) : bytes_of(OF(sum)(counts, comm), type)
#define ALLTOALLV_F in_place(a) ? bytes_of(OF(sum)(f, COMM(i)), TYPE(h)) : bytes_of(OF(sum)(b, COMM(i)), TYPE(d))
COLLECTIVE(Alltoallv, alltoallv, (OUT_V, IN_V, MPI_Comm comm), (buffer, counts, places, type, into, most, into_places, as, comm), 10, COMM(i),
           ALLTOALLV_C, ALLTOALLV_F)
#define OUT_W const void *buffer, const COUNT counts[], const PLACE places[], const MPI_Datatype types[]
#define IN_W void *into, const COUNT most[], const PLACE into_places[], const MPI_Datatype as[]
#define ALLTOALLW_C buffer == MPI_IN_PLACE ? OF(bytes_of_each)(most, as, members(comm)) : OF(bytes_of_each)(counts, types, members(comm))
#define ALLTOALLW_F in_place(a) ? bytes_of_each_in_fortran(f, h, members(COMM(i))) : bytes_of_each_in_fortran(b, d, members(COMM(i)))
COLLECTIVE(Alltoallw, alltoallw, (OUT_W, IN_W, MPI_Comm comm), (buffer, counts, places, types, into, most, into_places, as, comm), 10,
           COMM(i), ALLTOALLW_C, ALLTOALLW_F)

#define OUT_N const void *buffer, const COUNT counts[], const MPI_Aint places[], const MPI_Datatype types[]
#define IN_N void *into, const COUNT most[], const MPI_Aint into_places[], const MPI_Datatype as[]
NEIGHBOURHOOD(Neighbor_allgather, neighbor_allgather, (OUT, IN, MPI_Comm comm),
              (buffer, count, type, into, most, as, comm), 8, bytes_of(count, type), BYTES(b, c))
NEIGHBOURHOOD(Neighbor_allgatherv, neighbor_allgatherv, (OUT, IN_V, MPI_Comm comm),
              (buffer, count, type, into, most, into_places, as, comm), 9, bytes_of(count, type), BYTES(b, c))
NEIGHBOURHOOD(Neighbor_alltoall, neighbor_alltoall, (OUT, IN, MPI_Comm comm),
              (buffer, count, type, into, most, as, comm), 8, neighbours(comm) * bytes_of(count, type), neighbours(COMM(g)) * BYTES(b, c))
NEIGHBOURHOOD(Neighbor_alltoallv, neighbor_alltoallv, (OUT_V, IN_V, MPI_Comm comm),
              (buffer, counts, places, type, into, most, into_places, as, comm), 10,
              bytes_of(OF(sum_of)(counts, neighbours(comm)), type), bytes_of(OF(sum_of)(b, neighbours(COMM(i))), TYPE(d)))
NEIGHBOURHOOD(Neighbor_alltoallw, neighbor_alltoallw, (OUT_N, IN_N, MPI_Comm comm),
              (buffer, counts, places, types, into, most, into_places, as, comm), 10,
              OF(bytes_of_each)(counts, types, neighbours(comm)), bytes_of_each_in_fortran(b, d, neighbours(COMM(i))))

/* One-sided: Get counts what it asks for, at the rank that asks. */
#define AT int to, MPI_Aint displacement, COUNT most, MPI_Datatype as
#define PUT_C put(window, to, bytes_of(count, type))
#define PUT_F(win) put(WIN(win), NUMBER(d), BYTES(b, c))
#define SIDED(N, name, BUFFER) CALL(OF(N), name, (BUFFER, AT, MPI_Win window), (buffer, count, type, to, displacement, most, as, window), 9, PUT_C, PUT_F(h))
#define RSIDED(N, name, BUFFER) \
    CALL(OF(N), name, (BUFFER, AT, MPI_Win window, MPI_Request *request), (buffer, count, type, to, displacement, most, as, window, request), 10, PUT_C, PUT_F(h))
SIDED(Put, put, OUT)
SIDED(Get, get, INTO)
RSIDED(Rput, rput, OUT)
RSIDED(Rget, rget, INTO)
CALL(OF(Accumulate), accumulate, (OUT, AT, MPI_Op op, MPI_Win window), (buffer, count, type, to, displacement, most, as, op, window), 10, PUT_C, PUT_F(i))
CALL(OF(Raccumulate), raccumulate, (OUT, AT, MPI_Op op, MPI_Win window, MPI_Request *request),
     (buffer, count, type, to, displacement, most, as, op, window, request), 11, PUT_C, PUT_F(i))
CALL(OF(Get_accumulate), get_accumulate, (OUT, void *into, COUNT wanted, MPI_Datatype wanted_as, AT, MPI_Op op, MPI_Win window),
     (buffer, count, type, into, wanted, wanted_as, to, displacement, most, as, op, window), 13, PUT_C, put(WIN(l), NUMBER(g), BYTES(b, c)))
CALL(OF(Rget_accumulate), rget_accumulate,
     (OUT, void *into, COUNT wanted, MPI_Datatype wanted_as, AT, MPI_Op op, MPI_Win window, MPI_Request *request),
     (buffer, count, type, into, wanted, wanted_as, to, displacement, most, as, op, window, request), 14, PUT_C,
     put(WIN(l), NUMBER(g), BYTES(b, c)))
PLAIN(OF(Win_allocate), win_allocate, (MPI_Aint size, PLACE unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
      (size, unit, info, comm, memory, window), 7)
PLAIN(OF(Win_allocate_shared), win_allocate_shared, (MPI_Aint size, PLACE unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
      (size, unit, info, comm, memory, window), 7)
PLAIN(OF(Win_create), win_create, (void *memory, MPI_Aint size, PLACE unit, MPI_Info info, MPI_Comm comm, MPI_Win *window),
      (memory, size, unit, info, comm, window), 7)

/* Files of MPI: what is read or written, one way after another of saying where. */
#define ON_FILE(name, BUFFER) \
    CALL(OF(File_##name), file_##name, (MPI_File file, BUFFER, MPI_Status *answer), (file, buffer, count, type, answer), 6, bytes_of(count, type), BYTES(c, d))
#define AT_PLACE(name, BUFFER) \
    CALL(OF(File_##name), file_##name, (MPI_File file, MPI_Offset offset, BUFFER, MPI_Status *answer), (file, offset, buffer, count, type, answer), 7, \
         bytes_of(count, type), BYTES(d, e))
#define I_ON_FILE(name, BUFFER) \
    CALL(OF(File_##name), file_##name, (MPI_File file, BUFFER, MPI_Request *request), (file, buffer, count, type, request), 6, bytes_of(count, type), \
         BYTES(c, d))
#define I_AT_PLACE(name, BUFFER) \
    CALL(OF(File_##name), file_##name, (MPI_File file, MPI_Offset offset, BUFFER, MPI_Request *request), (file, offset, buffer, count, type, request), 7, \
         bytes_of(count, type), BYTES(d, e))
#define BEGIN(name, BUFFER) \
    CALL(OF(File_##name), file_##name, (MPI_File file, BUFFER), (file, buffer, count, type), 5, bytes_of(count, type), BYTES(c, d))
#define BEGIN_AT_PLACE(name, BUFFER) \
    CALL(OF(File_##name), file_##name, (MPI_File file, MPI_Offset offset, BUFFER), (file, offset, buffer, count, type), 6, bytes_of(count, type), BYTES(d, e))
#define READ_AND_WRITE(HOW, suffix) HOW(read##suffix, INTO) HOW(write##suffix, OUT)
#define IREAD_AND_IWRITE(HOW, suffix) HOW(iread##suffix, INTO) HOW(iwrite##suffix, OUT)
READ_AND_WRITE(ON_FILE, )
READ_AND_WRITE(ON_FILE, _all)
READ_AND_WRITE(ON_FILE, _shared)
READ_AND_WRITE(ON_FILE, _ordered)
READ_AND_WRITE(AT_PLACE, _at)
READ_AND_WRITE(AT_PLACE, _at_all)
IREAD_AND_IWRITE(I_ON_FILE, )
IREAD_AND_IWRITE(I_ON_FILE, _all)
IREAD_AND_IWRITE(I_ON_FILE, _shared)
IREAD_AND_IWRITE(I_AT_PLACE, _at)
IREAD_AND_IWRITE(I_AT_PLACE, _at_all)
READ_AND_WRITE(BEGIN, _all_begin)
READ_AND_WRITE(BEGIN, _ordered_begin)
READ_AND_WRITE(BEGIN_AT_PLACE, _at_all_begin)
