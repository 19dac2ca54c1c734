# Finds Debian's MLIR/LLVM 22 (shared libraries) and its tablegen.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22 NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/include)
set(CMAKE_INSTALL_RPATH ${LLVM_LIBRARY_DIR})
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})
add_link_options(-fuse-ld=lld -B/usr/lib/llvm-22/bin)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-comment -Wno-init-list-lifetime)
# For code that includes LLVM: as Debian builds it, and see TypeName.h.
set(TESSERA_LLVM_OPTIONS -fno-rtti -fno-exceptions -include ${CMAKE_SOURCE_DIR}/cmake/TypeName.h)
