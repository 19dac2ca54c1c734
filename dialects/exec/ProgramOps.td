// The program on buffers: what the runtime executes, one op an instruction of program.proto.

def Exec_ProgramOp : Exec_Op<"program", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let summary = "The instructions of one device, the same on every device of the mesh.";
  let description = [{
    `constants` is the contents of the constant section: each at the offset that its buffers name.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$mesh,
    TypedArrayAttrBase<Exec_Parameter, "parameters">:$inputs,
    TypedArrayAttrBase<Exec_Parameter, "parameters">:$outputs,
    I64Attr:$arena_bytes, I64Attr:$constant_bytes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    static ::llvm::StringRef getDefaultDialect() { return "exec"; }
  }];
}

def Exec_ConstantOp : Exec_Op<"constant", [HasParent<"ProgramOp">]> {
  let summary = "Contents of the constant section from `offset` on.";
  let arguments = (ins I64Attr:$offset, ElementsAttr:$value);
  let assemblyFormat = "`at` $offset $value attr-dict";
}

def Exec_BufferOp : Exec_Op<"buffer", [Pure]> {
  let summary = "Names a byte range: an array of type `type` at `offset` in the arena, an input, an output or the constants.";
  let description = [{
    ```mlir
    %0 = exec.buffer input 2 : tensor<8xf32>
    %1 = exec.buffer arena at 4096 : tensor<8xf32>
    ```
  }];
  let arguments = (ins Exec_Space:$space, DefaultValuedAttr<I64Attr, "0">:$index,
    DefaultValuedAttr<I64Attr, "0">:$offset, TypeAttrOf<AnyRankedTensor>:$type);
  let results = (outs Exec_Buffer:$buffer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::mlir::cast<::mlir::RankedTensorType>(getType()); }
    int64_t getBytes();
  }];
}

def Exec_DispatchOp : Exec_Op<"dispatch", [AttrSizedOperandSegments]> {
  let summary = "Runs every cell of a kernel.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$inputs, Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` `->` `(` $outputs `)` attr-dict";
}

def Exec_StartOp : Exec_Op<"start", [AttrSizedOperandSegments]> {
  let summary = "Starts a collective over the groups that `axes` span.";
  let description = [{
    Attributes as in program.proto's Collective; the operands' shapes are those of their buffers. Operands may not be
    written, results not touched, before the wait of the same site.
  }];
  let arguments = (ins I64Attr:$site, Exec_CollectiveKind:$kind, AnyAttr:$axes,
    Variadic<Exec_Buffer>:$from, Variadic<Exec_Buffer>:$to,
    OptionalAttr<Exec_Reduction>:$reduction, DefaultValuedAttr<I64Attr, "0">:$dim,
    DefaultValuedAttr<I64Attr, "0">:$concat_dim, OptionalAttr<DenseI64ArrayAttr>:$source_target,
    DefaultValuedAttr<I64Attr, "0">:$shift, DefaultValuedAttr<BoolAttr, "false">:$wrap,
    OptionalAttr<ArrayAttr>:$groups);
  let assemblyFormat = "$site $kind ($reduction^)? `over` $axes `(` $from `)` `->` `(` $to `)` attr-dict";
  let hasVerifier = 1;
}

def Exec_WaitOp : Exec_Op<"wait"> {
  let summary = "Waits for site `site`: its results are there, its operands may be overwritten.";
  let arguments = (ins I64Attr:$site);
  let assemblyFormat = "$site attr-dict";
}

def Exec_LoopOp : Exec_Op<"loop", [NoTerminator]> {
  let summary = "Runs `body` trip_count times, or while `condition` leaves true in `predicate`.";
  let arguments = (ins OptionalAttr<I64Attr>:$trip_count, Optional<Exec_Buffer>:$predicate);
  let regions = (region AnyRegion:$condition, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Exec_BranchOp : Exec_Op<"branch", [NoTerminator]> {
  let summary = "Runs the block that the i32 in `index` picks; out of range means the last.";
  let arguments = (ins Exec_Buffer:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$blocks);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Exec_CopyOp : Exec_Op<"copy"> {
  let summary = "Copies one buffer to another of the same size.";
  let arguments = (ins Exec_Buffer:$from, Exec_Buffer:$to);
  let assemblyFormat = "$from `to` $to attr-dict";
  let hasVerifier = 1;
}

def Exec_CoordinateOp : Exec_Op<"coordinate"> {
  let summary = "Writes the device's index along `axes` (major to minor) as an i32.";
  let arguments = (ins AnyAttr:$axes, Exec_Buffer:$to);
  let assemblyFormat = "$axes `to` $to attr-dict";
}
