# The program as its users meet it. Standard-library Python only.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB app_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/app/*_test.py)
foreach(app_test IN LISTS app_tests)
  get_filename_component(name ${app_test} NAME_WE)
  string(REPLACE "_test" "" name ${name})
  add_test(NAME app_${name} COMMAND ${Python3_EXECUTABLE} ${app_test} -v)
  set_tests_properties(app_${name} PROPERTIES ENVIRONMENT "ISOBIT_PROGRAM=$<TARGET_FILE:isobit>" TIMEOUT 900)
endforeach()
