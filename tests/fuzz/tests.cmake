# Each *_fuzz.cc makes the program fuzz_NAME. Under ISOBIT_FUZZ libFuzzer's main drives it (scripts/fuzz); elsewhere ctest replays
# the inputs that earlier runs found, and once more in the build of the sanitize preset.
set(fuzz_programs "")
file(GLOB fuzz_targets CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
foreach(target IN LISTS fuzz_targets)
  get_filename_component(name ${target} NAME_WE)
  string(REPLACE "_fuzz" "" name ${name})
  set(program fuzz_${name})
  add_executable(${program} ${target} tests/fuzz/fuzz_entry.cc tests/fuzz/allocation_meter.cc)
  target_compile_definitions(${program} PRIVATE ISOBIT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${program} PRIVATE isobit_checkpoint isobit_text isobit_record isobit_matrix
                                           isobit_gate isobit_bundle isobit_statement)
  list(APPEND fuzz_programs ${program})
  if(ISOBIT_FUZZ)
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${program} PRIVATE tests/fuzz/replay_main.cc)
    add_test(NAME ${program} COMMAND ${program} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  endif()
endforeach()
add_custom_target(fuzz DEPENDS ${fuzz_programs})

if(NOT ISOBIT_SANITIZE AND NOT ISOBIT_FUZZ)
  add_test(NAME sanitized_fuzz_corpus COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR}
    -P ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_sanitized.cmake)
  set_tests_properties(sanitized_fuzz_corpus PROPERTIES PROCESSORS 2 TIMEOUT 1800)
endif()

# Memory on large files that lie: metered like the targets, in a program of its own.
add_executable(test_memory tests/fuzz/memory_test.cc tests/fuzz/allocation_meter.cc)
target_link_libraries(test_memory PRIVATE isobit_test_main isobit_checkpoint isobit_text)
add_test(NAME memory COMMAND test_memory)
