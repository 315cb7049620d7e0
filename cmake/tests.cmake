# tests/<folder>/*_test.cc make the program test_<folder>; each doctest suite file shares tests/support/main.cc.
add_library(isobit_test_main STATIC tests/support/main.cc)
target_link_libraries(isobit_test_main PUBLIC doctest::doctest)
target_compile_definitions(isobit_test_main PUBLIC ISOBIT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

foreach(folder IN LISTS ISOBIT_LAYERS)
  file(GLOB test_sources CONFIGURE_DEPENDS tests/${folder}/*_test.cc)
  if(test_sources AND NOT folder STREQUAL app)
    add_executable(test_${folder} ${test_sources})
    target_link_libraries(test_${folder} PRIVATE isobit_test_main isobit_${folder})
    target_compile_options(test_${folder} PRIVATE -O1)  # half the build time; what is tested keeps its own flags
    add_test(NAME ${folder} COMMAND test_${folder})
  endif()
endforeach()

target_sources(test_why PRIVATE tests/support/faulty_kernel_set.cc)

# What scripts/oracle/template*.py hold against jinja2.
add_executable(template_outcomes tests/oracle/template_outcomes.cc)
target_link_libraries(template_outcomes PRIVATE isobit_text)

# The promise end to end, and the faults that must break it: it needs the engine and the audit at once.
file(GLOB schedule_sources CONFIGURE_DEPENDS tests/schedules/*.cc)
add_executable(test_schedules ${schedule_sources} tests/support/faulty_kernel_set.cc)
target_link_libraries(test_schedules PRIVATE isobit_test_main isobit_targets isobit_matrix isobit_compare)
target_compile_options(test_schedules PRIVATE -O1)
add_test(NAME schedules COMMAND test_schedules)
include(tests/fuzz/tests.cmake)
include(tests/scripts/tests.cmake OPTIONAL)
include(tests/app/tests.cmake)
include(tests/goldens/tests.cmake)

# Pages to look at in a browser.
add_executable(html_pages tests/report/html_pages.cc)
target_link_libraries(html_pages PRIVATE isobit_report)
target_compile_options(html_pages PRIVATE -O1)
include(tests/browser/tests.cmake)
