! The sum of 1..n, under the name that C knows it by.
module sums
    use, intrinsic :: iso_c_binding, only: c_double, c_int
    implicit none
contains
    function sum_to(n) bind(c, name="sum_to") result(total)
        integer(c_int), value :: n
        real(c_double) :: total
        integer :: i
        total = 0.0_c_double
        do i = 1, n
            total = total + real(i, c_double)
        end do
    end function sum_to
end module sums
