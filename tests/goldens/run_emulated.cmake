# Runs PROGRAM under EMULATOR; SKIPPED when either is missing.
find_program(emulator ${EMULATOR})
if(NOT emulator)
  message("SKIPPED: ${EMULATOR} is not installed")
elseif(NOT EXISTS ${PROGRAM})
  message("SKIPPED: ${PROGRAM} was not built")
else()
  execute_process(COMMAND ${emulator} ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
endif()
