# Replays the corpus of every fuzz target in a build with AddressSanitizer and UndefinedBehaviorSanitizer.
#   SOURCE
execute_process(COMMAND ${CMAKE_COMMAND} --preset sanitize WORKING_DIRECTORY ${SOURCE} OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SOURCE}/build/sanitize --target fuzz -j2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${SOURCE}/build/sanitize -R "^fuzz_" --no-tests=error
  --output-on-failure COMMAND_ERROR_IS_FATAL ANY)
