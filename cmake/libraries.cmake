# One static library per folder: isobit_<folder>, linked to what lib/layers.txt allows.
function(isobit_library folder dir)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  if(folder STREQUAL kernels)
    list(FILTER sources EXCLUDE REGEX "kernels/cuda/")
    if(NOT OPENBLAS_FOUND)
      list(FILTER sources EXCLUDE REGEX "kernels/adaptive/openblas_")
    endif()
  endif()
  if(NOT sources)
    add_library(isobit_${folder} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(isobit_${folder} STATIC ${sources})
    set(scope PUBLIC)
  endif()
  foreach(dep IN LISTS ISOBIT_DEPS_${folder})
    target_link_libraries(isobit_${folder} ${scope} isobit_${dep})
  endforeach()
  target_link_libraries(isobit_${folder} ${scope} ${ISOBIT_THIRD_PARTY_${folder}})
endfunction()

# The published digests, readable in docs/ and compiled into lib/selftest/published_digests.cc.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS docs/elementary-digests.txt)
file(READ docs/elementary-digests.txt elementary_digests)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/elementary_digests.inc CONTENT "R\"digests(@elementary_digests@)digests\"\n" @ONLY)

# The ready policies, readable in examples/policies and compiled into lib/gate/ready_policies.cc.
file(GLOB ready_policies CONFIGURE_DEPENDS examples/policies/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ready_policies})
set(ready_policy_list "")
foreach(ready_policy IN LISTS ready_policies)
  get_filename_component(ready_policy_name ${ready_policy} NAME_WE)
  file(READ ${ready_policy} ready_policy_text)
  string(APPEND ready_policy_list "{\"${ready_policy_name}\", R\"policy(${ready_policy_text})policy\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/ready_policies.inc CONTENT "@ready_policy_list@" @ONLY)

foreach(folder IN LISTS ISOBIT_LAYERS)
  if(folder STREQUAL kernels)
    isobit_library(kernels kernels)
  elseif(NOT folder STREQUAL app)
    isobit_library(${folder} lib/${folder})
  endif()
endforeach()

set_source_files_properties(lib/selftest/published_digests.cc PROPERTIES
  COMPILE_DEFINITIONS "ISOBIT_ELEMENTARY_DIGESTS=\"${CMAKE_BINARY_DIR}/generated/elementary_digests.inc\""
  OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/generated/elementary_digests.inc)

set_source_files_properties(lib/gate/ready_policies.cc PROPERTIES
  COMPILE_DEFINITIONS "ISOBIT_READY_POLICIES=\"${CMAKE_BINARY_DIR}/generated/ready_policies.inc\""
  OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/generated/ready_policies.inc)

if(OPENBLAS_FOUND)
  add_compile_definitions(ISOBIT_HAVE_OPENBLAS)
endif()
