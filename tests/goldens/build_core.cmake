# Builds the core alone (numeric contract section 7) with one compiler.
#   COMPILER, SOURCE, BUILD; TARGETS and OPTIONS (further arguments of cmake), words between spaces
# Without that compiler: SKIPPED, and nothing stale stays behind for the tests that run what was built.
find_program(compiler ${COMPILER})
if(NOT compiler)
  file(REMOVE_RECURSE ${BUILD})
  message("SKIPPED: ${COMPILER} is not installed")
  return()
endif()
separate_arguments(TARGETS)
separate_arguments(OPTIONS)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G Ninja -DCMAKE_BUILD_TYPE=Release
  -DISOBIT_CORE_ONLY=ON -DCMAKE_CXX_COMPILER=${compiler} ${OPTIONS} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGETS} -j2 COMMAND_ERROR_IS_FATAL ANY)
