# The core (numeric contract section 7): standard library only, xxHash's single header apart. `goldens` is built from exactly
# these files, so that any compiler and any architecture can reproduce the engine's bits without the other libraries.
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/lib)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(GLOB_RECURSE avx2_sources CONFIGURE_DEPENDS kernels/*_avx2.cc)
  file(GLOB_RECURSE avx512_sources CONFIGURE_DEPENDS kernels/*_avx512.cc)
  set_source_files_properties(${avx2_sources} PROPERTIES COMPILE_OPTIONS "${ISOBIT_KERNEL_FLAGS};-mavx2;-mfma;-mf16c;-mprfchw")
  set_source_files_properties(${avx512_sources} PROPERTIES
    COMPILE_OPTIONS "${ISOBIT_KERNEL_FLAGS};-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mfma;-mf16c;-mprfchw;-mprefer-vector-width=512")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  file(GLOB_RECURSE neon_sources CONFIGURE_DEPENDS kernels/*_neon.cc)
  set_source_files_properties(${neon_sources} PROPERTIES COMPILE_OPTIONS "${ISOBIT_KERNEL_FLAGS}")
endif()

set_source_files_properties(kernels/cpu/cpu_portable.cc PROPERTIES COMPILE_OPTIONS "${ISOBIT_KERNEL_FLAGS}")  # its lanes are loops

# What lib/fingerprint records about this build. Warnings and flags that hold paths say nothing about results.
get_property(build_options DIRECTORY PROPERTY COMPILE_OPTIONS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
separate_arguments(build_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
list(APPEND build_flags ${build_options})
list(FILTER build_flags EXCLUDE REGEX "^-W|/|\"")
list(JOIN build_flags " " build_flags)
set_source_files_properties(lib/fingerprint/build_facts.cc PROPERTIES COMPILE_DEFINITIONS
  "ISOBIT_VERSION=\"${PROJECT_VERSION}\";ISOBIT_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\";ISOBIT_COMPILER_FLAGS=\"${build_flags}\";ISOBIT_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\";ISOBIT_CUDA_TOOLKIT=\"${CMAKE_CUDA_COMPILER_VERSION}\"")

file(GLOB core_sources CONFIGURE_DEPENDS lib/tensor/*.cc lib/numeric/*.cc kernels/cpu/*.cc lib/engine/*.cc)
list(APPEND core_sources lib/base/error.cc lib/base/thread_pool.cc lib/checkpoint/checkpoint.cc lib/checkpoint/tensor_names.cc kernels/registry.cc)
add_library(core OBJECT ${core_sources})
target_compile_definitions(core PUBLIC ISOBIT_CORE_ONLY)
target_link_libraries(core PUBLIC Threads::Threads)
add_executable(goldens tests/goldens/goldens.cc)
target_link_libraries(goldens PRIVATE core)
if(CMAKE_CROSSCOMPILING)
  # The emulator then needs no libraries of the target; and of the host's headers only xxHash's, which is the same everywhere.
  target_link_options(core PUBLIC -static)
  find_file(ISOBIT_XXHASH_HEADER xxhash.h REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  configure_file(${ISOBIT_XXHASH_HEADER} ${CMAKE_BINARY_DIR}/host_headers/xxhash.h COPYONLY)
  target_include_directories(core PUBLIC ${CMAKE_BINARY_DIR}/host_headers)

  # doctest is one header as well, so the core's own tests can run there too.
  find_path(ISOBIT_DOCTEST_FOLDER doctest/doctest.h NO_CMAKE_FIND_ROOT_PATH)
  if(ISOBIT_DOCTEST_FOLDER)
    file(COPY ${ISOBIT_DOCTEST_FOLDER}/doctest DESTINATION ${CMAKE_BINARY_DIR}/host_headers)
    file(GLOB core_tests CONFIGURE_DEPENDS tests/base/thread_pool_test.cc tests/kernels/cpu_*_test.cc)
    add_executable(core_tests tests/support/main.cc ${core_tests})
    target_compile_options(core_tests PRIVATE -O1)
    target_link_libraries(core_tests PRIVATE core)
  endif()
endif()
