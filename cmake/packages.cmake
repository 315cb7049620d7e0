# What scripts/package makes: a Debian package of the program as it is built, and a tarball of one that needs few
# libraries of the machine. docs/packages.md says what is in them.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # a package needs the program, not every test

# isobit_portable: the same objects, linked to the archives of the libraries where Debian has them. What is left is
# libc and libm: libarchive alone names more, for formats that are not used here and that --gc-sections takes out. Not
# built unless asked for.
set(static_archives "")
set(static_missing "")
foreach(library archive crypto sqlite3 pcre2-8 utf8proc mpfr gmp)
  find_library(ISOBIT_ARCHIVE_${library} lib${library}.a)
  if(ISOBIT_ARCHIVE_${library})
    list(APPEND static_archives ${ISOBIT_ARCHIVE_${library}})
  else()
    list(APPEND static_missing lib${library}.a)
  endif()
endforeach()
if(OPENBLAS_FOUND)
  find_library(ISOBIT_ARCHIVE_openblas libopenblas.a)
  if(ISOBIT_ARCHIVE_openblas)
    list(APPEND static_archives ${ISOBIT_ARCHIVE_openblas} -Wl,--as-needed)
    foreach(runtime gfortran quadmath)  # OpenBLAS's own; as archives, in GCC's folder
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${runtime}.a OUTPUT_VARIABLE archive
                      OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(EXISTS ${archive})
        list(APPEND static_archives ${archive})
      endif()
    endforeach()
  else()
    list(APPEND static_missing libopenblas.a)
  endif()
endif()
set(own_archives "")
set(own_targets "")
foreach(dep IN LISTS ISOBIT_DEPS_app)
  get_target_property(kind isobit_${dep} TYPE)
  if(kind STREQUAL STATIC_LIBRARY)
    list(APPEND own_archives $<TARGET_FILE:isobit_${dep}>)
    list(APPEND own_targets isobit_${dep})
  endif()
endforeach()
if(NOT static_missing)
  add_executable(isobit_portable EXCLUDE_FROM_ALL $<TARGET_OBJECTS:isobit> packaging/fmt_archive.cc)
  set_target_properties(isobit_portable PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/portable
                                                   RUNTIME_OUTPUT_NAME isobit)
  add_dependencies(isobit_portable ${own_targets})
  target_link_libraries(isobit_portable PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--start-group ${own_archives}
                        ${static_archives} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})
else()
  message(STATUS "no portable program: ${static_missing} not found")
endif()

# Manual page, completions, changelog: written by the program and by gzip.
set(package_files ${CMAKE_BINARY_DIR}/package)
add_custom_target(package_files COMMAND sh ${CMAKE_SOURCE_DIR}/packaging/files $<TARGET_FILE:isobit> ${package_files}
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
add_dependencies(package_files isobit)

foreach(component program portable)
  if(component STREQUAL program)
    install(TARGETS isobit RUNTIME DESTINATION bin COMPONENT program)
  elseif(TARGET isobit_portable)
    install(PROGRAMS ${CMAKE_BINARY_DIR}/portable/isobit DESTINATION bin COMPONENT portable)
  endif()
  install(DIRECTORY ${package_files}/share/ DESTINATION share COMPONENT ${component})
  install(DIRECTORY examples schemas DESTINATION share/isobit USE_SOURCE_PERMISSIONS COMPONENT ${component})
  install(FILES README.md DESTINATION share/doc/isobit COMPONENT ${component})
  install(DIRECTORY docs/ DESTINATION share/doc/isobit COMPONENT ${component} PATTERN images EXCLUDE)
endforeach()

set(CPACK_PACKAGE_NAME isobit)
set(CPACK_PACKAGE_CONTACT "isobit maintainers <maintainers@isobit.invalid>" CACHE STRING "Whom packages name")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "audit the determinism of LLM inference and gate upgrades on it")
set(CPACK_PACKAGE_DESCRIPTION
    "isobit runs the same prompts in different company, order and cut, records
every token and the bits of every row of logits, and says which answers
differ, where, and why. It has an engine of its own whose answers are the same
bits whatever shares the batch, and gates that let an upgrade ship or not.")
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_kinds.cmake)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
