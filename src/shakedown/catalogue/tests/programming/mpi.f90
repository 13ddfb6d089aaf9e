program parallel
    use mpi
    use, intrinsic :: iso_c_binding, only: c_double, c_int
    use sums, only: sum_to
    implicit none
    integer :: ierror, rank, ranks, started
    character(len=16) :: word
    integer(c_int) :: first, last
    integer, parameter :: long = selected_int_kind(15)
    double precision :: part, total
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call get_command_argument(1, word)
    read (word, *) started
    if (ranks /= started) then
        print '(a, i0, a, i0, a)', 'error: single ranks instead of one world: ', ranks, ' of ', started, &
            '; the wrapper that built this is of another MPI than the launcher'
        call MPI_Finalize(ierror)
        stop 1
    end if
    first = int(1000000_long * rank / ranks, c_int)
    last = int(1000000_long * (rank + 1) / ranks, c_int)
    part = sum_to(last) - sum_to(first)
    call MPI_Allreduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank == 0) then
        print '(a, i0)', 'sum of 1..1000000 = ', nint(total, kind=long)
        print '(a, i0)', 'ranks = ', ranks
        print '(a)', 'threads = 1'
    end if
    call MPI_Finalize(ierror)
    if (total /= 500000500000.0d0) stop 1
end program parallel
