# libkspec_openmpi.so and libkspec_mpich.so: one source, by the compiler that each MPI brings, since their ABIs differ.
foreach(mpi openmpi mpich)
  string(TOUPPER ${mpi} MPI)
  find_program(MPICC_${MPI} mpicc.${mpi})
  if(NOT MPICC_${MPI}) # outside Debian there is one, called mpicc: which?
    find_program(MPICC mpicc)
    if(MPICC)
      execute_process(COMMAND ${MPICC} -show OUTPUT_VARIABLE MPI_SHOWN ERROR_QUIET)
      if((mpi STREQUAL "openmpi" AND MPI_SHOWN MATCHES "-lmpi( |\n|$)" AND NOT MPI_SHOWN MATCHES "-lmpich") OR
         (mpi STREQUAL "mpich" AND MPI_SHOWN MATCHES "-lmpich"))
        set(MPICC_${MPI} ${MPICC})
      endif()
    endif()
  endif()
  if(MPICC_${MPI})
    set(plugin ${CMAKE_BINARY_DIR}/libkspec_${mpi}.so)
    add_custom_command(OUTPUT ${plugin}
      COMMAND ${MPICC_${MPI}} -O2 -std=c11 -Wall -Wextra -fPIC -fvisibility=hidden -shared -I${CMAKE_SOURCE_DIR}/include
              -I${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/mpi/mpi.c -o ${plugin}
      DEPENDS mpi/mpi.c src/team/plugin.h include/kspec/team.h COMMENT "libkspec_${mpi}.so" VERBATIM)
    add_custom_target(kspec_${mpi} ALL DEPENDS ${plugin})
    install(FILES ${plugin} DESTINATION ${CMAKE_INSTALL_LIBDIR} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    message(STATUS "libkspec_${mpi}.so: by ${MPICC_${MPI}}")
  else()
    message(STATUS "libkspec_${mpi}.so: not built (no mpicc.${mpi})")
  endif()
endforeach()
