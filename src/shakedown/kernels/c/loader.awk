# Writes the C source of one of the libraries that `loader` loads: awk -v library=3 -v functions=200 -f loader.awk
#
# The functions stand in chains of ten. `enter` calls the first of each chain, and each calls the next one. The ninth calls, beside its own
# last one, a last one of the library before, and one of the library whose number is half of its own. Each function counts its call and
# gives a number of its own, to which it adds what it was given; loader.c computes the same sum.

function number(of, function_number) { return (of * 7919 + function_number * 104729) % 1009 }
function name(of, function_number) { return sprintf("shakedown_loader_%04d_%05d", of, function_number) }
function leaf(of, chain) { return name(of, 10 * (chain % (functions / 10)) + 9) }

BEGIN {
    if (functions < 10 || functions % 10) {
        print "LOADER_FUNCTIONS=" functions ": give a multiple of 10" > "/dev/stderr"
        exit 1
    }
    half = int(library / 2)
    print "/* Made by loader.awk. */"
    for (f = 0; f < functions; f++)
        print "long " name(library, f) "(long *calls);"
    for (c = 0; c < functions / 10; c++) {
        if (library > 0) print "long " leaf(library - 1, c) "(long *calls);"
        if (library > 2) print "long " leaf(half, c) "(long *calls);"
    }
    printf "long shakedown_loader_%04d_enter(long *calls);\n", library
    for (f = 0; f < functions; f++) {
        text = "    return " number(library, f)
        if (f % 10 < 9) text = text " + " name(library, f + 1) "(calls)"
        if (f % 10 == 8 && library > 0) text = text " + " leaf(library - 1, int(f / 10) + library) "(calls)"
        if (f % 10 == 8 && library > 2) text = text " + " leaf(half, int(f / 10) + 2 * library) "(calls)"
        print "long " name(library, f) "(long *calls)\n{\n    ++*calls;\n" text ";\n}"
    }
    printf "long shakedown_loader_%04d_enter(long *calls)\n{\n    long sum = 0;\n    ++*calls;\n", library
    for (f = 0; f < functions; f += 10)
        print "    sum += " name(library, f) "(calls);"
    print "    return sum;\n}"
}
