// The device program: kernels, buffers, and the instructions that the runtime executes.
#ifndef TESSERA_EXEC_DIALECT
#define TESSERA_EXEC_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::tessera::exec";
  let summary = "The program of one device: kernels, buffers and instructions, as the runtime executes them.";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Exec_Space : I32EnumAttr<"Space", "where a buffer lies", [
    I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Input", 1, "input">,
    I32EnumAttrCase<"Output", 2, "output">, I32EnumAttrCase<"Constant", 3, "constant">,
    I32EnumAttrCase<"HostArena", 4, "host">, I32EnumAttrCase<"FileArena", 5, "file">,
    I32EnumAttrCase<"Argument", 6, "argument">]> {
  let cppNamespace = "::tessera::exec";
}
def Exec_Memory : I32EnumAttr<"Memory", "which memory of a device bytes lie in", [
    I32EnumAttrCase<"Device", 0, "device">, I32EnumAttrCase<"Host", 1, "host">, I32EnumAttrCase<"File", 2, "file">]> {
  let cppNamespace = "::tessera::exec";
}

def Exec_CollectiveKind : I32EnumAttr<"CollectiveKind", "what a collective computes", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Permute", 4, "permute">, I32EnumAttrCase<"Broadcast", 5, "broadcast">]> {
  let cppNamespace = "::tessera::exec";
}
def Exec_Reduction : I32EnumAttr<"Reduction", "how a collective combines elements", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]> {
  let cppNamespace = "::tessera::exec";
}

def Exec_Buffer : TypeDef<Exec_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A byte range on the device that holds a dense row-major array.";
}

def Exec_Parameter : AttrDef<Exec_Dialect, "Parameter"> {
  let mnemonic = "param";
  let summary = "An input or output of the program.";
  let description = [{
    `local` is what a device holds, `global` what the caller sees; `sharding` (an `#sdy.sharding`) relates them and
    is absent where every device holds the whole. `alias` on an output: the input whose buffer it takes. `memory`:
    where the tiles lie, in the device's memory or the host's.
  }];
  let parameters = (ins
    StringRefParameter<"the argument's or result's name">:$name,
    "::mlir::RankedTensorType":$local,
    "::mlir::RankedTensorType":$global,
    OptionalParameter<"::mlir::Attribute">:$sharding,
    DefaultValuedParameter<"bool", "false">:$donated,
    DefaultValuedParameter<"int64_t", "-1">:$alias,
    DefaultValuedParameter<"::tessera::exec::Memory", "::tessera::exec::Memory::Device">:$memory);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_TensorMap : AttrDef<Exec_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "An operand of a GPU's kernel as copies of boxes into shared memory see it.";
  let description = [{
    From `offset` bytes on, `sizes` elements, innermost first, which lie side by side there and `strides` bytes apart along the other
    dimensions; a copy takes a `box` of them, and zeros for what is outside.
    ```mlir
    #exec.tensor_map<operand = 0, type = bf16, sizes = [4096, 1024], strides = [8192], box = [64, 128]>
    ```
  }];
  let parameters = (ins "int64_t":$operand, DefaultValuedParameter<"int64_t", "0">:$offset, "::mlir::Type":$type,
    "::mlir::DenseI64ArrayAttr":$sizes, "::mlir::DenseI64ArrayAttr":$strides, "::mlir::DenseI64ArrayAttr":$box);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Exec_Launch : AttrDef<Exec_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "How a GPU runs a kernel: a cell is a block of so many threads.";
  let description = [{
    `shared_bytes`: of memory that a block's threads share, beside those that the code declares. `maps`, `#exec.tensor_map`s: parameters
    after the operands.
  }];
  let parameters = (ins "int64_t":$threads, DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
    OptionalParameter<"::mlir::ArrayAttr">:$maps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def Exec_Launches : TypedArrayAttrBase<Exec_Launch, "launches of kernels">;

#endif
