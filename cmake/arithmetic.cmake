# Numeric contract section 1: no contraction, no fast-math, anywhere. A flag that breaks the contract stops the configuration.
foreach(flags IN ITEMS "${CMAKE_CXX_FLAGS}" "$ENV{CXXFLAGS}" "${CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}}")
  if(flags MATCHES "-ffast-math|-Ofast|-funsafe-math|-fassociative-math|-freciprocal-math|-ffp-contract=(fast|on)|-ffinite-math")
    message(FATAL_ERROR "compiler flags '${flags}' change floating-point results; the numeric contract forbids them")
  endif()
endforeach()
add_compile_options(-ffp-contract=off -fno-fast-math)
# std::fma must be one instruction where the architecture has it; a base x86-64 build calls libm, which is right but slow.
# So only the files of kernels/cpu named *_avx2.cc and *_avx512.cc get -mfma and friends (cmake/libraries.cmake).
