! What Fortran has to know of the function that C has.
module sums
    use, intrinsic :: iso_c_binding, only: c_double, c_int
    implicit none
    interface
        function sum_to(n) bind(c, name="sum_to") result(total)
            import :: c_double, c_int
            integer(c_int), value :: n
            real(c_double) :: total
        end function sum_to
    end interface
end module sums
