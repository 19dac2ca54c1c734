// Tokens, and what passes between the program and its host or other programs.
#ifndef TESSERA_STABLEHLO_HOST
#define TESSERA_STABLEHLO_HOST
include "dialects/stablehlo/StablehloBase.td"

def AfterAllOp : Stablehlo_Op<"after_all", [Pure]> {
  let arguments = (ins Variadic<TokenType>:$inputs);
  let results = (outs TokenType:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($result)";
}
def CreateTokenOp : Stablehlo_Op<"create_token", [Pure]> {
  let results = (outs TokenType:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}
def InfeedOp : Stablehlo_Op<"infeed"> {
  let arguments = (ins TokenType:$token, OptionalAttr<StrAttr>:$infeed_config, OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<TensorOrToken>);
  let hasVerifier = 1;
}
def OutfeedOp : Stablehlo_Op<"outfeed"> {
  let arguments = (ins Variadic<PerAxisTensor>:$inputs, TokenType:$token, OptionalAttr<StrAttr>:$outfeed_config);
  let results = (outs TokenType);
}
def SendOp : Stablehlo_Op<"send"> {
  let arguments = (ins Variadic<PerAxisTensor>:$inputs, TokenType:$token, ChannelHandleAttr:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs TokenType);
  let hasVerifier = 1;
}
def RecvOp : Stablehlo_Op<"recv"> {
  let arguments = (ins TokenType:$token, ChannelHandleAttr:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<TensorOrToken>);
  let hasVerifier = 1;
}
#endif
