// The program on buffers: what the runtime executes, one op an instruction of program.proto.

def Exec_ProgramOp : Exec_Op<"program", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let summary = "The instructions of one device, the same on every device of the mesh.";
  let description = [{
    A module may hold several, each for devices of its own: `devices`, by their number on the mesh, are numbers among
    all devices of the module, or the first of those that follow each other; device 0 is the first without it.
    The header gives the bytes of each space on a device: its `arena`, `constants` (each exec.constant at the offset
    that its buffers name), and where there are any those of the `host` and of a `file`.
    ```mlir
    exec.program @first mesh @stage devices [0] arena 64 constants 0 inputs [..] outputs [..] {..}
    exec.program @second mesh @stage devices [2] arena 64 host 4096 constants 0 inputs [..] outputs [..] {..}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$mesh,
    TypedArrayAttrBase<Exec_Parameter, "parameters">:$inputs,
    TypedArrayAttrBase<Exec_Parameter, "parameters">:$outputs,
    I64Attr:$arena_bytes, I64Attr:$constant_bytes,
    DefaultValuedOptionalAttr<I64Attr, "0">:$host_bytes, DefaultValuedOptionalAttr<I64Attr, "0">:$file_bytes,
    OptionalAttr<DenseI64ArrayAttr>:$devices);
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
    %2 = exec.buffer host at 0 : tensor<8xf32>
    ```
    `argument` names an operand of the call that the surrounding exec.function runs for. `array`, until
    scratch has its place, and of what the program may write (the arena, outputs, inputs that are donated): the array that
    the range is in, as [offset, bytes, begin, end, ..]: when it is needed.
  }];
  let arguments = (ins Exec_Space:$space, DefaultValuedAttr<I64Attr, "0">:$index,
    DefaultValuedAttr<I64Attr, "0">:$offset, TypeAttrOf<AnyRankedTensor>:$type,
    OptionalAttr<DenseI64ArrayAttr>:$array);
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
  let description = [{
    `time`: when it runs, among the times of arrays (exec.buffer). Code generation, which knows what scratch the kernel
    takes, finds a place for it: `scratch_at`, a byte of the arena, or of the input or output that `scratch_in` and
    `scratch_index` name, while nobody needs what is in that. Without one it is memory of the worker's.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$inputs, Variadic<Exec_Buffer>:$outputs,
    OptionalAttr<I64Attr>:$time, OptionalAttr<I64Attr>:$scratch_at, OptionalAttr<Exec_Space>:$scratch_in,
    DefaultValuedAttr<I64Attr, "0">:$scratch_index);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `->` `(` $outputs `)` (`time` $time^)? (`scratch` `at` $scratch_at^)?
    (`in` $scratch_in^ $scratch_index)? attr-dict
  }];
  let hasVerifier = 1;
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
  let summary = "Waits for what site `site` has started: results are there, operands may be overwritten.";
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

def Exec_CopyStartOp : Exec_Op<"copy_start"> {
  let summary = "Starts to copy one buffer to another; ends at the wait of its site. One may lie in a file.";
  let description = [{
    Both have the same size; or, with `at`, the smaller one is a part of the other: it begins as many `step`s of bytes
    from the beginning as the i32 in `index` says, and no further than that it ends with the other.
    ```mlir
    exec.copy_start 5 %layers to %layer at %i step 4096
    ```
  }];
  let arguments = (ins I64Attr:$site, Exec_Buffer:$from, Exec_Buffer:$to, Optional<Exec_Buffer>:$index, OptionalAttr<I64Attr>:$step);
  let assemblyFormat = "$site $from `to` $to (`at` $index^ `step` $step)? attr-dict";
  let hasVerifier = 1;
}

def Exec_ChannelOp : Exec_Op<"channel", [Symbol]> {
  let summary = "A way from the devices of one program to those of another, for arrays of one type.";
  let description = [{
    The device at each position of `from`'s mesh sends to the one at the same position of `to`'s; or, with `source_target`,
    to those that its pairs of positions give. Each device of `to` has one that it receives from.
    ```mlir
    exec.channel @activations from @first to @second : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$from, FlatSymbolRefAttr:$to,
    TypeAttrOf<AnyRankedTensor>:$type, OptionalAttr<DenseI64ArrayAttr>:$source_target);
  let assemblyFormat = "$sym_name `from` $from `to` $to `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::mlir::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def Exec_SendOp : Exec_Op<"send"> {
  let summary = "Starts to send a buffer on a channel; it may be overwritten after the wait of its site.";
  let arguments = (ins I64Attr:$site, FlatSymbolRefAttr:$channel, Exec_Buffer:$from);
  let assemblyFormat = "$site $channel `(` $from `)` attr-dict";
}

def Exec_ReceiveOp : Exec_Op<"receive"> {
  let summary = "Starts to receive what the channel's other end sends next; it is there after the wait of its site.";
  let arguments = (ins I64Attr:$site, FlatSymbolRefAttr:$channel, Exec_Buffer:$to);
  let assemblyFormat = "$site $channel `->` `(` $to `)` attr-dict";
}

def Exec_FunctionOp : Exec_Op<"function", [HasParent<"ProgramOp">, NoTerminator, SingleBlock]> {
  let summary = "Instructions that exec.call runs, on buffers that each call gives.";
  let description = [{
    `exec.buffer argument I` names operand I of the call: those that it reads, then those that it writes. A function
    calls only functions before it, and waits for all that it starts.
    ```mlir
    exec.function @layer reads [tensor<8xf32>] writes [tensor<8xf32>] {
      %x = exec.buffer argument 0 : tensor<8xf32>
      %y = exec.buffer argument 1 : tensor<8xf32>
      exec.dispatch @exp(%x) -> (%y)
    }
    exec.call @layer(%a) -> (%b)
    exec.call @layer(%b) -> (%c)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$reads, TypeArrayAttr:$writes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    // Of operand `i` of a call.
    ::mlir::RankedTensorType getArgumentType(int64_t i);
    int64_t getNumArguments() { return getReads().size() + getWrites().size(); }
  }];
}

def Exec_CallOp : Exec_Op<"call", [AttrSizedOperandSegments]> {
  let summary = "Runs a function of the program on these buffers.";
  let arguments = (ins FlatSymbolRefAttr:$function, Variadic<Exec_Buffer>:$reads, Variadic<Exec_Buffer>:$writes);
  let assemblyFormat = "$function `(` $reads `)` `->` `(` $writes `)` attr-dict";
  let hasVerifier = 1;
}
