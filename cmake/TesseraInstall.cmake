# What `cmake --install` and the packages put where, all of it relative to the prefix, which may be moved afterwards.
# Components: runtime (no LLVM), mpi, compiler, their _dev, doc. docs/installing.md says what each is for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TESSERA_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/tessera)
set(TESSERA_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
file(RELATIVE_PATH library_of_binary ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH prefix_of_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})

# What is installed; tests and examples are not built for it.
add_custom_target(installation)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# tessera_run_path(NAME PLACES..): where a library or program looks for others, in the build as in a prefix: one that CMake changed
# while installing would have an empty place before, which is the current directory.
function(tessera_run_path name)
  list(REMOVE_DUPLICATES ARGN)
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${ARGN}")
endfunction()

# tessera_public_library(COMPONENT HEADERS..): the library tessera_COMPONENT, of which only its C
# interface is visible, with its headers of include/tessera, tessera::COMPONENT for find_package, and pkg-config's file.
function(tessera_public_library component)
  cmake_parse_arguments(ARG "" "DESCRIPTION" "HEADERS;RPATH" ${ARGN})
  set(library tessera_${component})
  add_library(tessera::${component} ALIAS ${library})
  target_compile_features(${library} INTERFACE c_std_11 cxx_std_20)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(${library} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map)
  set_target_properties(${library} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME ${component}
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exports.map)
  tessera_run_path(${library} $ORIGIN $ORIGIN/tessera ${ARG_RPATH})
  add_dependencies(installation ${library})
  install(TARGETS ${library} EXPORT tessera-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT ${component}_dev)
  install(EXPORT tessera-${component} NAMESPACE tessera:: DESTINATION ${TESSERA_CONFIG_DIR} COMPONENT ${component}_dev)
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/include/tessera/)
  install(FILES ${ARG_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT ${component}_dev)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera-${component}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/tessera-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component}_dev)
endfunction()

# tessera_binary(NAME COMPONENT [RPATH..]): a program that finds the libraries beside it, in the build and in a prefix.
function(tessera_binary name component)
  tessera_run_path(${name} $ORIGIN/../lib $ORIGIN/${library_of_binary} $ORIGIN/${library_of_binary}/tessera ${ARGN})
  add_dependencies(installation ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
endfunction()

# tessera_plugin(NAME COMPONENT): what the runtime opens by its file's name.
function(tessera_plugin name component)
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON) # an MPI of one's own
  add_dependencies(installation ${name})
  install(TARGETS ${name} LIBRARY DESTINATION ${TESSERA_PLUGIN_DIR} COMPONENT ${component})
endfunction()

configure_package_config_file(cmake/tessera-config.cmake.in ${CMAKE_BINARY_DIR}/tessera-config.cmake
  INSTALL_DESTINATION ${TESSERA_CONFIG_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tessera-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tessera-config.cmake ${CMAKE_BINARY_DIR}/tessera-config-version.cmake
  DESTINATION ${TESSERA_CONFIG_DIR} COMPONENT runtime_dev)

# Pages, and examples that build against what is installed.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/tessera)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${doc} COMPONENT doc)
install(DIRECTORY docs DESTINATION ${doc} COMPONENT doc FILES_MATCHING PATTERN *.md)
install(DIRECTORY ${CMAKE_BINARY_DIR}/site/ DESTINATION ${doc}/html COMPONENT doc OPTIONAL) # where `site` was built
install(DIRECTORY examples/embed examples/outside_kernel DESTINATION ${doc}/examples COMPONENT doc)
