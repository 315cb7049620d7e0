set(ISOBIT_RELEASE_DATE 2026-12-01)  # of PROJECT_VERSION; packaging/changelog has the same

# The schemas, readable in schemas/ and compiled into app/output_schemas.cc.
file(GLOB schemas CONFIGURE_DEPENDS schemas/*.schema.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schemas})
set(schema_list "")
foreach(schema IN LISTS schemas)
  get_filename_component(schema_name ${schema} NAME_WE)
  file(READ ${schema} schema_text)
  string(APPEND schema_list "{\"${schema_name}\", R\"schema(${schema_text})schema\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/schemas.inc CONTENT "@schema_list@" @ONLY)

file(GLOB app_sources CONFIGURE_DEPENDS app/*.cc)
add_executable(isobit ${app_sources})
target_link_libraries(isobit PRIVATE ${ISOBIT_THIRD_PARTY_app})
foreach(dep IN LISTS ISOBIT_DEPS_app)
  target_link_libraries(isobit PRIVATE isobit_${dep})
endforeach()
set_source_files_properties(app/version.cc PROPERTIES COMPILE_DEFINITIONS
  "ISOBIT_VERSION=\"${PROJECT_VERSION}\";ISOBIT_RELEASE_DATE=\"${ISOBIT_RELEASE_DATE}\";ISOBIT_BUILD_FLAGS=\"${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS_RELEASE} -ffp-contract=off -fno-fast-math -std=c++20\"")
file(RELATIVE_PATH examples_from_build ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/examples)
set_source_files_properties(app/installed_files.cc PROPERTIES COMPILE_DEFINITIONS "ISOBIT_EXAMPLES_FROM_BUILD=\"${examples_from_build}\"")
set_source_files_properties(app/output_schemas.cc PROPERTIES
  COMPILE_DEFINITIONS "ISOBIT_SCHEMAS=\"${CMAKE_BINARY_DIR}/generated/schemas.inc\""
  OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/generated/schemas.inc)
