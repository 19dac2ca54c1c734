# Headers parsed once, which is most of what compiling a file takes. Every file still includes what it uses.
#   TesseraSupportHeaders   LLVM's containers: for what is compiled as LLVM is, without MLIR
#   TesseraMlirHeaders      MLIR's: for the dialects
#   TesseraProgramHeaders   those and the ops of StableHLO and Shardy: for all that reads programs
#   TesseraKernelHeaders    and LLVM's IR: for what writes kernels
#   TesseraRuntimeHeaders   the program's messages: for the runtime (runtime/CMakeLists.txt)
#   TesseraTestHeaders, TesseraSupportTestHeaders, TesseraProgramTestHeaders   and GoogleTest's: for unit tests (test/unit/CMakeLists.txt)
# TESSERA_PRECOMPILED is what a directory takes that links MLIR: TesseraMlirHeaders where TesseraProgramHeaders is made from it.
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang$<SEMICOLON>-fno-pch-timestamp>)

set(TESSERA_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring> <deque> <functional>
  <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector>)
set(TESSERA_SUPPORT_HEADERS ${TESSERA_STANDARD_HEADERS}
  <llvm/ADT/ArrayRef.h> <llvm/ADT/DenseMap.h> <llvm/ADT/STLExtras.h> <llvm/ADT/SetVector.h> <llvm/ADT/SmallVector.h>
  <llvm/ADT/StringExtras.h> <llvm/Support/JSON.h> <llvm/Support/MathExtras.h>)
set(mlir_headers
  <algorithm> <map> <numeric> <optional> <set> <string> <vector>
  <llvm/ADT/MapVector.h> <llvm/ADT/STLExtras.h> <llvm/ADT/SetVector.h> <llvm/ADT/StringExtras.h> <llvm/ADT/TypeSwitch.h>
  <llvm/Support/JSON.h>
  <mlir/Bytecode/BytecodeOpInterface.h>
  <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Quant/IR/QuantTypes.h>
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h> <mlir/IR/IRMapping.h> <mlir/IR/Matchers.h>
  <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/IR/SymbolTable.h> <mlir/IR/TypeUtilities.h>
  <mlir/Interfaces/ControlFlowInterfaces.h> <mlir/Interfaces/FunctionInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h> <mlir/Transforms/InliningUtils.h>)

# tessera_precompiled(NAME [LLVM] HEADERS headers.. [OPTIONS options..]); LLVM: for what is compiled as LLVM is.
function(tessera_precompiled name)
  cmake_parse_arguments(ARG "LLVM" "" "HEADERS;OPTIONS" ${ARGN})
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/Precompiled.cpp)
  if(ARG_LLVM)
    list(PREPEND ARG_OPTIONS ${TESSERA_LLVM_OPTIONS})
  endif()
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

tessera_precompiled(TesseraSupportHeaders LLVM HEADERS ${TESSERA_SUPPORT_HEADERS})
tessera_precompiled(TesseraMlirHeaders LLVM HEADERS ${mlir_headers})
set(TESSERA_PROGRAM_HEADERS ${mlir_headers}
  ${CMAKE_SOURCE_DIR}/dialects/stablehlo/StablehloOps.h ${CMAKE_SOURCE_DIR}/dialects/sdy/SdyOps.h)
tessera_precompiled(TesseraProgramHeaders LLVM HEADERS ${TESSERA_PROGRAM_HEADERS})
tessera_precompiled(TesseraKernelHeaders LLVM HEADERS ${TESSERA_PROGRAM_HEADERS}
  <llvm/Analysis/VectorUtils.h> <llvm/IR/IRBuilder.h> <llvm/IR/InstIterator.h> <llvm/IR/IntrinsicInst.h> <llvm/IR/Module.h>
  <llvm/IR/PassManager.h> <llvm/IR/PatternMatch.h> <llvm/Transforms/Utils/BasicBlockUtils.h>)
foreach(headers TesseraProgramHeaders TesseraKernelHeaders)
  target_link_libraries(${headers} PRIVATE TesseraStablehlo TesseraSdy) # their headers are generated first
endforeach()
set(TESSERA_PRECOMPILED TesseraProgramHeaders)
