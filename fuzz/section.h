/* What is compiled with this has a section to itself, whose ends the linker names. */
#pragma clang section text = "kspec_hdf5"
