# Headers parsed once: MLIR's, and for all that reads programs MLIR's and the ops of StableHLO and Shardy. Parsing them is
# most of what compiling a pass takes. Every file still includes what it uses. TESSERA_PRECOMPILED is what a directory takes:
# TesseraMlirHeaders where TesseraProgramHeaders is made from it.
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang$<SEMICOLON>-fno-pch-timestamp>)

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

function(tessera_precompiled name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/Precompiled.cpp)
  target_compile_options(${name} PRIVATE ${TESSERA_LLVM_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

tessera_precompiled(TesseraMlirHeaders ${mlir_headers})
tessera_precompiled(TesseraProgramHeaders ${mlir_headers}
  ${CMAKE_SOURCE_DIR}/dialects/stablehlo/StablehloOps.h ${CMAKE_SOURCE_DIR}/dialects/sdy/SdyOps.h)
target_link_libraries(TesseraProgramHeaders PRIVATE TesseraStablehlo TesseraSdy) # their headers are generated first
set(TESSERA_PRECOMPILED TesseraProgramHeaders)
