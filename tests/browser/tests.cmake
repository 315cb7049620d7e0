# The HTML report in Debian's Chromium. python3-selenium is a package of Debian's own Python, whichever comes first on the path.
find_program(ISOBIT_BROWSER_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT ISOBIT_BROWSER_PYTHON)
  set(ISOBIT_BROWSER_PYTHON ${Python3_EXECUTABLE})
endif()
foreach(name IN ITEMS pages doctored)
  add_test(NAME browser_${name} COMMAND ${ISOBIT_BROWSER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/browser/${name}_test.py -v)
  set_tests_properties(browser_${name} PROPERTIES ENVIRONMENT "HTML_PAGES=$<TARGET_FILE:html_pages>" TIMEOUT 900)
endforeach()
