// What one kernel computes: in place among other ops (exec.fused), and outlined (exec.kernel).

def Exec_FusedOp : Exec_Op<"fused", [IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "Ops that run as one kernel.";
  let description = [{
    The region computes on local tensors; constants live inside. `inplace`: for each result the index of the operand
    whose buffer it may overwrite, or -1. `kernel`: the exec.kernel that has been made of it, until the op becomes a
    dispatch.
    ```mlir
    %r = exec.fused(%x = %a : tensor<8xf32>) -> tensor<8xf32> {
      %s = stablehlo.exponential %x : tensor<8xf32>
      exec.yield %s : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, OptionalAttr<DenseI64ArrayAttr>:$inplace,
    OptionalAttr<FlatSymbolRefAttr>:$kernel);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    // The operand that result `i` may overwrite, or -1.
    int64_t inplaceOperand(unsigned i) { return getInplace() ? (*getInplace())[i] : -1; }
  }];
}

def Exec_YieldOp : Exec_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["FusedOp", "KernelOp"]>]> {
  let summary = "The results of a kernel.";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Exec_KernelOp : Exec_Op<"kernel", [IsolatedFromAbove, SingleBlock, Symbol]> {
  let summary = "An outlined kernel: block arguments are its inputs, what it yields its outputs.";
  let description = [{
    Called with inputs, then outputs, each a dense row-major array (include/tessera/kernel_abi.h). `inplace` as in
    exec.fused. Code generation fills in `grid`, `scratch_bytes` and `flops` (of one dispatch); and, for a kernel that
    the runtime brings, its name in the `library` with the `numbers` that say what it computes (include/tessera/library.h).
    `product`: what cuBLASLt may compute in the place of a GPU's code (library.h).
    A kernel from outside has the name that its author registers it under in `outside`, and `outside_attributes` for it.
    `strands`: the body is so many bodies of the same ops one after the other, each with as many of the inputs and of
    the outputs: one code may serve all (tessera-join-dispatches).
    `most_scratch`: the bytes that its scratch should not exceed, as there is no room for more while it runs; its code goes by
    smaller pieces then, as far as it can.
    ```mlir
    exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 1 : i64} {
      %s = stablehlo.exponential %x : tensor<8xf32>
      exec.yield %s : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<DenseI64ArrayAttr>:$inplace,
    OptionalAttr<I64Attr>:$grid, OptionalAttr<I64Attr>:$scratch_bytes, OptionalAttr<F64Attr>:$flops,
    OptionalAttr<StrAttr>:$library, OptionalAttr<DenseI64ArrayAttr>:$numbers,
    OptionalAttr<StrAttr>:$outside, OptionalAttr<DictionaryAttr>:$outside_attributes,
    OptionalAttr<DenseI64ArrayAttr>:$product, OptionalAttr<I64Attr>:$most_scratch, OptionalAttr<I64Attr>:$strands);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    ::mlir::TypeRange getInputTypes() { return getBlock()->getArgumentTypes(); }
    ::mlir::TypeRange getOutputTypes() { return getBlock()->getTerminator()->getOperandTypes(); }
    // The input that output `i` may overwrite, or -1.
    int64_t inplaceOperand(unsigned i) { return getInplace() ? (*getInplace())[i] : -1; }
  }];
}

def Exec_ImageOp : Exec_Op<"image"> {
  let summary = "The code of all kernels for one kind of processor: a section of the program's file.";
  let description = [{
    `code` holds the bytes of a shared object; where there are `launches` PTX, or with the feature "cubin" what ptxas made of it. Code generation makes one for each processor that it is asked for; the
    loader takes the best that its machine can run. `grids`, one for each exec.kernel of the module in their order, where
    they differ from those that the kernels name. `launches`, likewise, of code for a GPU.
    ```mlir
    exec.image "cpu" for "x86-64-v3" ["avx2", "fma"] dense_resource<code_v3> : tensor<9120xi8>
    ```
  }];
  let arguments = (ins StrAttr:$target, StrAttr:$cpu, StrArrayAttr:$features, ElementsAttr:$code,
    OptionalAttr<DenseI64ArrayAttr>:$grids, OptionalAttr<Exec_Launches>:$launches);
  let assemblyFormat = "$target `for` $cpu $features $code attr-dict";
  let hasVerifier = 1;
}
