# Finds Debian's MLIR/LLVM 22 (shared libraries) and its tablegen.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22 NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/include)
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})
add_link_options(-fuse-ld=lld -B/usr/lib/llvm-22/bin)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-comment)
add_compile_options(-Wno-deprecated-declarations) # libstdc++ 12 sorts by a function that it deprecates
# What is built names no directory of the machine it is built on.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}/=build/)
add_compile_options(-ffp-contract=off) # sums have the same bits on every machine
# For code that includes LLVM: as Debian builds it.
set(TESSERA_LLVM_OPTIONS -fno-rtti -fno-exceptions)

# What links MLIR has Debian's shared library, but for targets with the property TESSERA_STATIC_MLIR: these have the parts of it
# that the compiler uses, hidden as the rest of them. Of the 70,000 symbols that the loader would look up in libMLIR a compile pays
# 15 to 20 ms.
add_library(TesseraStaticMlir INTERFACE)
target_link_libraries(TesseraStaticMlir INTERFACE
  MLIRParser MLIRPass MLIRTransforms MLIRTransformUtils MLIRBytecodeReader MLIRBytecodeWriter MLIRAnalysis
  MLIROptLib MLIRDialectUtils MLIRFuncInlinerExtension MLIRFuncDialect MLIRArithDialect MLIRComplexDialect MLIRQuantDialect MLIRShapeDialect MLIRTensorDialect MLIRIR LLVM)
set(TESSERA_MLIR "$<IF:$<BOOL:$<TARGET_PROPERTY:TESSERA_STATIC_MLIR>>,TesseraStaticMlir,MLIR>")
