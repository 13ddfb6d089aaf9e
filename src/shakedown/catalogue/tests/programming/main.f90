program main
    use, intrinsic :: iso_c_binding, only: c_double, c_int
    use sums, only: sum_to
    implicit none
    real(c_double) :: total
    total = sum_to(1000000_c_int)
    print '(a, i0)', 'sum of 1..1000000 = ', nint(total, kind=selected_int_kind(15))
    print '(a)', 'threads = 1'
    if (total /= 500000500000.0_c_double) stop 1
end program main
