// The text of regions and shardings in ops that hold both:
//   sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] (%arg0: tensor<4xf32>) { .. }
#include "dialects/sdy/SdyOps.h"

using namespace mlir;

namespace tessera::sdy {

static ParseResult parseShardingPerValue(OpAsmParser &parser,
                                         TensorShardingPerValueAttr &shardings) {
  SmallVector<TensorShardingAttr> list;
  auto one = [&] { return parser.parseCustomAttributeWithFallback(list.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  shardings = TensorShardingPerValueAttr::get(parser.getContext(), list);
  return success();
}

static void printShardingPerValue(OpAsmPrinter &printer, Operation *,
                                  TensorShardingPerValueAttr shardings) {
  printer << "[";
  llvm::interleaveComma(shardings.getShardings(), printer,
                        [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << "]";
}

static ParseResult parseSingleBlockRegion(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true,
                               /*allowAttrs=*/true) ||
      parser.parseRegion(region, arguments))
    return failure();
  if (region.empty())
    region.emplaceBlock();
  if (region.front().empty() || !region.front().back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder builder(parser.getContext()); // the region is in no operation yet
    builder.setInsertionPointToEnd(&region.front());
    ReturnOp::create(builder, parser.getEncodedSourceLoc(parser.getCurrentLocation()));
  }
  return success();
}

static void printSingleBlockRegion(OpAsmPrinter &printer, Operation *, Region &region) {
  printer << "(";
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

} // namespace tessera::sdy

#define GET_OP_CLASSES
#include "dialects/sdy/SdyOps.cpp.inc"
