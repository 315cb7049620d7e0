# Numeric contract section 1: IEEE-754 binary32 as written, no contraction, subnormals kept. A flag that breaks this stops the
# configuration, wherever it comes from. (lib/numeric/ieee_arithmetic.h refuses what a compiler does without being asked.)
#
# Linker flags count: a compiler driver that links under -ffast-math adds crtfastmath.o, which makes the program flush subnormals.
set(ISOBIT_REFUSED_FLAGS
  -Ofast fast-math -funsafe-math -fassociative-math -freciprocal-math -ffinite-math -fno-signed-zeros
  -fno-honor -fapprox-func unsafe-fp-math                              # clang
  fp-contract=fast fp-contract=on -ffp-model=[afp] -fp-model           # -ffp-model=precise of clang contracts
  -mrecip -mdaz-ftz -fdenormal-fp-math crtfastmath                     # approximate reciprocals; flushed subnormals
  -fexcess-precision=fast -ffp-eval-method=[de] -mfpmath=[a-z,+]*387 -mfpmath=both -mpc[0-9] -m32  # x87, double rounding
  -fsingle-precision-constant                                          # binary64 constants rounded to binary32
  -fveclib -mveclibabi                                                 # vector libm, other last bits
  use_fast_math -ftz=true -prec-div=false -prec-sqrt=false -fmad=true) # nvcc
list(JOIN ISOBIT_REFUSED_FLAGS "|" refused_flags)

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
foreach(variable IN ITEMS ISOBIT_OPTIMISE CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_${build_type} CMAKE_EXE_LINKER_FLAGS
    CMAKE_EXE_LINKER_FLAGS_${build_type} CMAKE_CXX_STANDARD_LIBRARIES CMAKE_CUDA_FLAGS CMAKE_CUDA_FLAGS_${build_type})
  string(REGEX REPLACE "-fno-fast-math" "" flags "${${variable}}")
  if(flags MATCHES "${refused_flags}")
    message(FATAL_ERROR "${variable} is '${${variable}}': '${CMAKE_MATCH_0}' changes floating-point results; "
      "the numeric contract forbids it")
  endif()
endforeach()
add_compile_options(-ffp-contract=off -fno-fast-math)
# std::fma must be one instruction where the architecture has it; a base x86-64 build calls libm, which is right but slow.
# So only the files of kernels/cpu named *_avx2.cc and *_avx512.cc get -mfma and friends (cmake/core.cmake).
