/* Who talks to whom: messages and bytes to each other rank, and persistent requests, which count when they are started. Part of trace.c. */

/* ---- who talks to whom ------------------------------------------------------------------------------------------------- */

static struct peer *slot_of(uint64_t place, int rank)
{
    size_t slot = (size_t)((place * 0x9e3779b97f4a7c15U + (uint64_t)(unsigned)rank) * 0xff51afd7ed558ccdU >> 20);
    for (slot &= peers.slots - 1; peers.at[slot].used; slot = (slot + 1) & (peers.slots - 1))
        if (peers.at[slot].rank == rank && peers.at[slot].place == place)
            break;
    return &peers.at[slot];
}

static struct peer *add_peer(uint64_t place, int rank, int world)
{
    if (2 * peers.used >= peers.slots) {
        struct peer *old = peers.at;
        size_t slots = peers.slots;
        peers.slots = slots ? 2 * slots : 64;
        peers.at = memset(room(NULL, peers.slots * sizeof *old), 0, peers.slots * sizeof *old);
        for (size_t i = 0; i < slots; i++)
            if (old[i].used)
                *slot_of(old[i].place, old[i].rank) = old[i];
        free(old);
    }
    struct peer *peer = slot_of(place, rank);
    if (!peer->used) {
        *peer = (struct peer){.place = place, .rank = rank, .world = world, .used = true};
        peers.used++;
    }
    return peer;
}

/* The rank in MPI_COMM_WORLD; MPI_UNDEFINED for one that is not in it. */
static int world_rank(MPI_Group group, int rank)
{
    MPI_Group world;
    int found = MPI_UNDEFINED;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return found;
}

static int world_of_comm(MPI_Comm comm, int rank)
{
    MPI_Group group;
    int remote = 0;
    if (comm == MPI_COMM_WORLD)
        return rank;
    PMPI_Comm_test_inter(comm, &remote);
    if (remote)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    return world_rank(group, rank);
}

static int world_of_window(MPI_Win window, int rank)
{
    MPI_Group group;
    PMPI_Win_get_group(window, &group);
    return world_rank(group, rank);
}

#define COMM_PLACE(comm) (2 * (uint64_t)(uintptr_t)(comm) + 1)
#define WINDOW_PLACE(window) (2 * (uint64_t)(uintptr_t)(window) + 2)

/* Count a message to `rank` of a communicator or window; the bytes. `ask` tells its rank in the world and is asked once. */
#define MESSAGE(place_, rank_, bytes_, ask) \
    do { \
        lock(); \
        struct peer *peer = peers.slots ? slot_of(place_, rank_) : NULL; \
        if (!peer || !peer->used) \
            peer = add_peer(place_, rank_, ask); \
        peer->messages++; \
        peer->bytes += bytes_; \
        unlock(); \
    } while (0)

static int64_t sent(MPI_Comm comm, int rank, int64_t bytes)
{
    if (rank < 0)       /* MPI_PROC_NULL */
        return 0;
    MESSAGE(COMM_PLACE(comm), rank, bytes, world_of_comm(comm, rank));
    return bytes;
}

static int64_t put(MPI_Win window, int rank, int64_t bytes)
{
    if (rank < 0)
        return 0;
    MESSAGE(WINDOW_PLACE(window), rank, bytes, world_of_window(window, rank));
    return bytes;
}

/* A communicator or window goes, and another may get its name: what was counted for it stays, by ranks of the world. */
static void forget(uint64_t place)
{
    lock();
    struct peer *old = peers.at;
    size_t slots = peers.slots, found = 0;
    for (size_t i = 0; i < slots; i++)
        found += old[i].used && old[i].place == place;
    if (found) {
        peers.at = NULL;
        peers.slots = peers.used = 0;
        for (size_t i = 0; i < slots; i++)
            if (old[i].used) {
                bool gone = old[i].place == place;
                struct peer *peer = add_peer(gone ? 0 : old[i].place, gone ? old[i].world : old[i].rank, old[i].world);
                peer->messages += old[i].messages;
                peer->bytes += old[i].bytes;
            }
        free(old);
    }
    unlock();
}

/* ---- persistent requests ----------------------------------------------------------------------------------------------- */

#define REQUEST_KEY(request) ((uint64_t)(uintptr_t)(request))

/* What each start of the request gives; `message` where it goes to one rank, which may be outside of the world. */
static int64_t keep(struct persistent request)
{
    lock();
    if (started.count == started.room) {
        started.room = started.room ? 2 * started.room : 16;
        started.at = room(started.at, started.room * sizeof *started.at);
    }
    started.at[started.count++] = request;
    unlock();
    return 0;
}

static int64_t prepared(MPI_Request request, MPI_Comm comm, int rank, int64_t bytes)
{
    return rank < 0 ? 0 : keep((struct persistent){REQUEST_KEY(request), true, world_of_comm(comm, rank), bytes});
}

#if NEW_IN_MPI_4
/* Of a collective. */
static int64_t prepared_for_all(MPI_Request request, int64_t bytes)
{
    return bytes ? keep((struct persistent){REQUEST_KEY(request), false, 0, bytes}) : 0;
}
#endif

/* Where the request is; `count` where it is not. Programs start requests in the order in which they made them: the next one is looked at first. */
static size_t find_request(MPI_Request request)
{
    for (size_t step = 0; step < started.count; step++) {
        size_t i = (started.next + step) % started.count;
        if (started.at[i].request == REQUEST_KEY(request)) {
            started.next = i + 1;
            return i;
        }
    }
    return started.count;
}

static void released(MPI_Request request)
{
    lock();
    size_t place = find_request(request);
    if (place < started.count)
        started.at[place] = started.at[--started.count];
    unlock();
}

/* Of a receive nothing is known here, and nothing counts. By ranks of the world, since the communicator may be gone by now. */
static int64_t begun(MPI_Request request)
{
    struct persistent found = {0, false, 0, 0};
    lock();
    size_t place = find_request(request);
    if (place < started.count)
        found = started.at[place];
    unlock();
    if (found.message)
        MESSAGE(0, found.world, found.bytes, found.world);
    return found.bytes;
}

static int64_t begun_all(int count, const MPI_Request *requests)
{
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += begun(requests[i]);
    return bytes;
}

static int64_t begun_all_in_fortran(int count, const MPI_Fint *requests)
{
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += begun(PMPI_Request_f2c(requests[i]));
    return bytes;
}
