# How other projects find an installed hipplan: pkg-config (hipplan.pc) and find_package(hipplan), target hipplan::hipplan.
include(CMakePackageConfigHelpers)

set(hipplan_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hipplan)
install(EXPORT hipplan NAMESPACE hipplan:: FILE hipplanConfig.cmake DESTINATION ${hipplan_package_folder})
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hipplanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hipplanConfigVersion.cmake DESTINATION ${hipplan_package_folder})

if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_INCLUDEDIR are folders below the prefix, not absolute paths")
endif()
set(hipplan_pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH hipplan_up_from_pc /prefix/${hipplan_pc_folder} /prefix)
string(REGEX REPLACE "/$" "" hipplan_up_from_pc "${hipplan_up_from_pc}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/package/hipplan.pc.in ${CMAKE_BINARY_DIR}/hipplan.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/hipplan.pc DESTINATION ${hipplan_pc_folder})
