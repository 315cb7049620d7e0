# Checks of the tree and of scripts/, run by ctest beside the C++ tests. Standard-library Python only.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB script_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/scripts/*_test.py)
foreach(script_test IN LISTS script_tests)
  get_filename_component(name ${script_test} NAME_WE)
  string(REPLACE "_test" "" name ${name})
  add_test(NAME scripts_${name} COMMAND ${Python3_EXECUTABLE} ${script_test})
endforeach()
