# libkspec_cuda.so, by nvcc itself: CMake's own CUDA would pass the C compiler's options on to it.
get_filename_component(CUDA_BIN ${NVCC} REALPATH)
get_filename_component(CUDA_BIN ${CUDA_BIN} DIRECTORY)
set(CUDA_FLAGS -O3 -std=c++17 -Xcompiler=-fPIC,-fvisibility=hidden,-Wall -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_SOURCE_DIR}/gpu)
foreach(arch ${KSPEC_CUDA_ARCHITECTURES})
  list(APPEND CUDA_FLAGS -gencode=arch=compute_${arch},code=sm_${arch})
  set(CUDA_NEWEST ${arch})
endforeach()
list(APPEND CUDA_FLAGS -gencode=arch=compute_${CUDA_NEWEST},code=compute_${CUDA_NEWEST})
file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS gpu/*.cu)
file(GLOB CUDA_HEADERS CONFIGURE_DEPENDS gpu/*.cuh src/device/plugin.h)
foreach(source ${CUDA_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  set(object ${CMAKE_BINARY_DIR}/cuda/${name}.o)
  add_custom_command(OUTPUT ${object} COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${NVCC} ${CUDA_FLAGS} -c ${source} -o ${object}
                     DEPENDS ${source} ${CUDA_HEADERS} COMMENT "nvcc gpu/${name}.cu" VERBATIM)
  list(APPEND CUDA_OBJECTS ${object})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cuda)
set(CUDA_PLUGIN ${CMAKE_BINARY_DIR}/libkspec_cuda.so)
add_custom_command(OUTPUT ${CUDA_PLUGIN}
  COMMAND ${NVCC} -shared -cudart=static ${CUDA_OBJECTS} -lcublas -ldl -lpthread -Xlinker -rpath,${CUDA_BIN}/../lib64 -o ${CUDA_PLUGIN}
  DEPENDS ${CUDA_OBJECTS} COMMENT "libkspec_cuda.so" VERBATIM)
add_custom_target(kspec_cuda ALL DEPENDS ${CUDA_PLUGIN})
install(FILES ${CUDA_PLUGIN} DESTINATION ${CMAKE_INSTALL_LIBDIR}
        PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
