# The same lines, expected.txt, from every variant of the cpu set, every compiler and every architecture at hand.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(flat ${CMAKE_BINARY_DIR}/tiny-kjv.flat)
add_custom_command(OUTPUT ${flat}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/goldens/flatten.py ${CMAKE_SOURCE_DIR}/examples/tiny-kjv ${flat}
  DEPENDS tests/goldens/flatten.py examples/tiny-kjv/config.json examples/tiny-kjv/generation_config.json
    examples/tiny-kjv/model.safetensors)
add_custom_target(flat_checkpoint ALL DEPENDS ${flat})

# add_goldens_test(NAME PROGRAM SET EMULATOR)
function(add_goldens_test name program set emulator)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=${program} -DSET=${set} -DEMULATOR=${emulator} -DFLAT=${flat}
    -DEXPECTED=${CMAKE_SOURCE_DIR}/tests/goldens/expected.txt -P ${CMAKE_SOURCE_DIR}/tests/goldens/compare.cmake)
  # Two threads each, and minutes where there is one slow core.
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: " PROCESSORS 2 TIMEOUT 1800)
endfunction()

# add_core_build(NAME COMPILER TARGETS OPTION...): a fixture that makes build/core/NAME.
function(add_core_build name compiler targets)
  list(JOIN ARGN " " options)
  add_test(NAME core_${name} COMMAND ${CMAKE_COMMAND} -DCOMPILER=${compiler} -DSOURCE=${CMAKE_SOURCE_DIR}
    -DBUILD=${CMAKE_SOURCE_DIR}/build/core/${name} "-DTARGETS=${targets}" "-DOPTIONS=${options}"
    -P ${CMAKE_SOURCE_DIR}/tests/goldens/build_core.cmake)
  set_tests_properties(core_${name} PROPERTIES FIXTURES_SETUP core_${name} SKIP_REGULAR_EXPRESSION "SKIPPED: "
    PROCESSORS 2 TIMEOUT 1800)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(sets reference portable avx2 avx512)
else()
  set(sets reference portable neon)
endif()
foreach(set IN LISTS sets)
  add_goldens_test(goldens_${set} $<TARGET_FILE:goldens> ${set} "")
endforeach()

# Other compilers, each level for every file. The two scalar sets are slow where fma is a call: portable runs at one level.
foreach(compiler IN ITEMS g++-12 clang++-14 clang++-19)
  foreach(level IN ITEMS O2 O3)
    string(REPLACE "clang++-" "clang" name ${compiler}_${level})
    string(REPLACE "g++-" "gcc" name ${name})
    add_core_build(${name} ${compiler} goldens -DISOBIT_OPTIMISE=-${level})
    set(chosen_sets ${sets})
    if(level STREQUAL O2)
      list(REMOVE_ITEM chosen_sets portable)
    endif()
    foreach(set IN LISTS chosen_sets)
      add_goldens_test(goldens_${name}_${set} ${CMAKE_SOURCE_DIR}/build/core/${name}/goldens ${set} "")
      set_tests_properties(goldens_${name}_${set} PROPERTIES FIXTURES_REQUIRED core_${name})
    endforeach()
  endforeach()
endforeach()

# Another architecture, under an emulator: the goldens, and every operator of the set against the reference.
add_core_build(aarch64 aarch64-linux-gnu-g++ "goldens core_tests" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64)
foreach(set IN ITEMS reference portable neon)
  add_goldens_test(goldens_aarch64_${set} ${CMAKE_SOURCE_DIR}/build/core/aarch64/goldens ${set} qemu-aarch64)
  set_tests_properties(goldens_aarch64_${set} PROPERTIES FIXTURES_REQUIRED core_aarch64)
endforeach()
add_test(NAME core_tests_aarch64 COMMAND ${CMAKE_COMMAND} -DPROGRAM=${CMAKE_SOURCE_DIR}/build/core/aarch64/core_tests
  -DEMULATOR=qemu-aarch64 -P ${CMAKE_SOURCE_DIR}/tests/goldens/run_emulated.cmake)
set_tests_properties(core_tests_aarch64 PROPERTIES FIXTURES_REQUIRED core_aarch64 SKIP_REGULAR_EXPRESSION "SKIPPED: "
  PROCESSORS 2 TIMEOUT 1800)
