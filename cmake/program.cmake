file(GLOB app_sources CONFIGURE_DEPENDS app/*.cc)
add_executable(isobit ${app_sources})
target_link_libraries(isobit PRIVATE ${ISOBIT_THIRD_PARTY_app})
foreach(dep IN LISTS ISOBIT_DEPS_app)
  target_link_libraries(isobit PRIVATE isobit_${dep})
endforeach()
set_source_files_properties(app/version.cc PROPERTIES COMPILE_DEFINITIONS
  "ISOBIT_VERSION=\"${PROJECT_VERSION}\";ISOBIT_BUILD_FLAGS=\"${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS_RELEASE} -ffp-contract=off -fno-fast-math -std=c++20\"")
set_source_files_properties(app/command_demo.cc PROPERTIES COMPILE_DEFINITIONS "ISOBIT_EXAMPLES_DIR=\"${CMAKE_SOURCE_DIR}/examples\"")
