# Helper functions, so that each folder's CMakeLists.txt only names its files and what it stands on.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(hipplan_options INTERFACE)
target_compile_options(hipplan_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion -Werror=return-type)
target_include_directories(hipplan_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/lib ${CMAKE_BINARY_DIR}/generated)
if(HIPPLAN_SANITIZE)
  target_compile_options(hipplan_options INTERFACE -fsanitize=${HIPPLAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(hipplan_options INTERFACE -fsanitize=${HIPPLAN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Functions of a vendor's library are called by our own declarations of them, which this check takes for others.
    # Null pointers and objects too small are told by AddressSanitizer where they are touched, and a wrong class (vptr)
    # needs a cast that nothing here makes; checking each use for them takes a fifth of the compiling.
    target_compile_options(hipplan_options INTERFACE -fno-sanitize=function,null,object-size,vptr)
    # The programs are large, and LLVM's linker is four times as fast.
    find_program(HIPPLAN_LLD NAMES ld.lld-22 ld.lld-19 ld.lld)
    if(HIPPLAN_LLD)
      target_link_options(hipplan_options INTERFACE --ld-path=${HIPPLAN_LLD})
    endif()
  endif()
endif()

# hipplan_static_runtime(TARGET): libstdc++ becomes part of it, and need not be found and bound at each start. What the
# library offers is C, and its modules catch what is thrown inside, so that each may have its own; the unwinder is shared
# with them. A sanitizer's runtime needs the shared libstdc++.
function(hipplan_static_runtime target)
  if(HIPPLAN_STATIC_RUNTIME AND NOT HIPPLAN_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++)
  endif()
endfunction()

# hipplan_separate(FILES...): compiled alone in a unity build, because file-local names repeat in a folder.
function(hipplan_separate)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# hipplan_share_headers(NAME HEADERS...): a target that compiles these headers once, in HIPPLAN_PRECOMPILE builds.
# hipplan_use_headers(TARGET NAME): its files start with them. Only for targets with the same compiler options.
option(HIPPLAN_PRECOMPILE "compile the standard headers once; every file still includes what it uses" OFF)
set(hipplan_standard_headers <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits>
    <map> <memory> <mutex> <optional> <set> <span> <sstream> <string> <string_view> <tuple> <unordered_map> <utility>
    <variant> <vector>)
function(hipplan_share_headers name)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/${name}.cpp "namespace {}\n")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  target_link_libraries(${name} PRIVATE hipplan_options)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
endfunction()
function(hipplan_use_headers target name)
  if(HIPPLAN_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
if(HIPPLAN_PRECOMPILE)
  hipplan_share_headers(hipplan_headers ${hipplan_standard_headers})
endif()

# The clang that compiles kernels for AMD GPUs: Debian's, or a ROCm installation's.
find_program(HIPPLAN_AMDGPU_CLANG NAMES clang-22 clang++-22 amdclang++
             PATHS /opt/rocm/llvm/bin /opt/rocm/bin DOC "clang that compiles kernels for AMD GPUs")
# Kernels of tests are the same in every build folder: the compiler cache has them from the first one.
set(hipplan_amdgpu_command ${HIPPLAN_AMDGPU_CLANG})
if(CCACHE_PROGRAM)
  set(hipplan_amdgpu_command ${CCACHE_PROGRAM} ${HIPPLAN_AMDGPU_CLANG})
endif()

# Where fuzzers are built, the libraries they try count branches and comparisons, by which they find their way.
# -fsanitize=fuzzer-no-link says the same, but would take precompiled headers of its own.
set(hipplan_fuzz_coverage "")
if(HIPPLAN_FUZZERS)
  if(NOT HIPPLAN_SANITIZE)
    message(FATAL_ERROR "HIPPLAN_FUZZERS needs HIPPLAN_SANITIZE: a sanitizer's runtime takes the counts (preset fuzz)")
  endif()
  set(hipplan_fuzz_coverage -fsanitize-coverage=inline-8bit-counters,pc-table,indirect-calls,trace-cmp)
endif()

# hipplan_library(NAME SOURCES a.cpp ... LINKS hipplan_base ...): one static library per folder of lib/.
function(hipplan_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC hipplan_options ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  hipplan_use_headers(${name} hipplan_headers)
endfunction()

set(hipplan_test_options -fPIC -O0)
# hipplan_test(NAME SOURCES ... LINKS ... [LABELS ...] [TIMEOUT s]): one doctest program, registered with CTest.
function(hipplan_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
  target_link_libraries(${name} PRIVATE hipplan_options ${ARG_LINKS} hipplan_test_main)
  # What is tested is optimised; optimising the tests themselves only costs build time.
  target_compile_options(${name} PRIVATE ${hipplan_test_options})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  hipplan_use_headers(${name} hipplan_test_headers)
  target_compile_definitions(${name} PRIVATE
    HIPPLAN_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HIPPLAN_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# hipplan_thread_test(NAME): hipplan_test's program also runs under ThreadSanitizer in tests/run.sh.
function(hipplan_thread_test name)
  set_property(TEST ${name} APPEND PROPERTY LABELS threads)
  if(NOT TARGET hipplan_thread_tests)
    add_custom_target(hipplan_thread_tests)
  endif()
  add_dependencies(hipplan_thread_tests ${name})
endfunction()

# hipplan_fuzzer(NAME SOURCES ... LINKS ...): a libFuzzer program when HIPPLAN_FUZZERS is on.
# The short run over tests/fuzz/corpus/NAME is a CTest test; seeds are written there by hand or by a test program.
set(HIPPLAN_FUZZ_SECONDS 10 CACHE STRING "how long each fuzzer's short run takes")
function(hipplan_fuzzer name)
  if(NOT HIPPLAN_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE hipplan_options ${ARG_LINKS})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  foreach(library hipplan_base hipplan_target ${ARG_LINKS})
    get_target_property(counted ${library} COMPILE_OPTIONS)
    if(NOT hipplan_fuzz_coverage IN_LIST counted)
      target_compile_options(${library} PRIVATE ${hipplan_fuzz_coverage})
    endif()
  endforeach()
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(work ${CMAKE_BINARY_DIR}/fuzz/${name})
  file(MAKE_DIRECTORY ${work})
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${HIPPLAN_FUZZ_SECONDS} -rss_limit_mb=2048 -timeout=10
           -print_final_stats=1 ${work} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  math(EXPR limit "${HIPPLAN_FUZZ_SECONDS} + 110")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS fuzz)
endfunction()
