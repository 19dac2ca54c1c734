// The text form of sharding rules: factors are letters i to z, then z_1, z_2, ..
//   #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}>
#include "dialects/sdy/SdyAttrs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

constexpr int64_t kLetters = 'z' - 'i' + 1;

void printFactor(AsmPrinter &printer, int64_t factor) {
  if (factor < kLetters)
    printer << static_cast<char>('i' + factor);
  else
    printer << "z_" << factor - kLetters + 1;
}

// Takes the factors off the front of a run of letters such as `ijz_1`; false when it isn't one.
bool takeFactors(StringRef word, SmallVectorImpl<int64_t> &factors) {
  while (!word.empty()) {
    if (word.front() < 'i' || word.front() > 'z')
      return false;
    int64_t factor = word.front() - 'i';
    word = word.drop_front();
    if (factor == kLetters - 1 && word.consume_front("_")) {
      int64_t number;
      if (word.consumeInteger(10, number) || number < 1)
        return false;
      factor += number;
    }
    factors.push_back(factor);
  }
  return true;
}

ParseResult parseFactors(AsmParser &parser, SmallVectorImpl<int64_t> &factors) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (!takeFactors(word, factors))
    return parser.emitError(loc, "expected factors: letters from i to z, then z_1, z_2, ..");
  return success();
}

ParseResult parseFactorSet(AsmParser &parser, SmallVectorImpl<int64_t> &factors) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                        [&] { return parseFactors(parser, factors); });
}

ParseResult parseMappings(AsmParser &parser, SmallVectorImpl<TensorMappingAttr> &mappings) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    auto mapping = dyn_cast_or_null<TensorMappingAttr>(TensorMappingAttr::parse(parser, Type()));
    if (!mapping)
      return failure();
    mappings.push_back(mapping);
    return success();
  });
}

void printMappings(AsmPrinter &printer, ArrayRef<TensorMappingAttr> mappings) {
  printer << "(";
  llvm::interleaveComma(mappings, printer.getStream(),
                        [&](TensorMappingAttr mapping) { mapping.print(printer); });
  printer << ")";
}

void printFactorSet(AsmPrinter &printer, StringRef name, ArrayRef<int64_t> factors) {
  if (factors.empty())
    return;
  printer << " " << name << "={";
  llvm::interleaveComma(factors, printer.getStream(),
                        [&](int64_t factor) { printFactor(printer, factor); });
  printer << "}";
}

} // namespace

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  if (parseFactors(parser, factors))
    return {};
  return get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  for (int64_t factor : getFactorIndices())
    printFactor(printer, factor);
}

Attribute TensorMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimMappingAttr> dims;
  auto dim = [&]() -> ParseResult {
    auto mapping = dyn_cast_or_null<DimMappingAttr>(DimMappingAttr::parse(parser, Type()));
    if (!mapping)
      return failure();
    dims.push_back(mapping);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, dim))
    return {};
  return get(parser.getContext(), dims);
}

void TensorMappingAttr::print(AsmPrinter &printer) const {
  printer << "[";
  llvm::interleaveComma(getDimMappings(), printer.getStream(),
                        [&](DimMappingAttr dim) { dim.print(printer); });
  printer << "]";
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorMappingAttr> operands, results;
  SmallVector<int64_t> sizes;
  if (parser.parseLess() || parseMappings(parser, operands) || parser.parseArrow() ||
      parseMappings(parser, results))
    return {};
  auto size = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> factor;
    if (parseFactors(parser, factor))
      return failure();
    if (factor.size() != 1 || factor[0] != static_cast<int64_t>(sizes.size()))
      return parser.emitError(loc, "factor sizes must be in the order i, j, k, ..");
    return failure(parser.parseEqual() || parser.parseInteger(sizes.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, size))
    return {};
  SmallVector<int64_t> sets[4];
  StringRef names[] = {"reduction", "need_replication", "permutation", "blocked_propagation"};
  for (auto [name, set] : llvm::zip_equal(names, sets))
    if (succeeded(parser.parseOptionalKeyword(name)) &&
        (parser.parseEqual() || parseFactorSet(parser, set)))
      return {};
  bool custom = false;
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("custom"))
      return {};
    custom = true;
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes, operands, results, sets[0], sets[1], sets[2], sets[3],
             custom);
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printMappings(printer, getOperandMappings());
  printer << "->";
  printMappings(printer, getResultMappings());
  if (!getFactorSizes().empty()) {
    printer << " {";
    llvm::interleaveComma(llvm::enumerate(getFactorSizes()), printer.getStream(), [&](auto factor) {
      printFactor(printer, factor.index());
      printer << "=" << factor.value();
    });
    printer << "}";
  }
  printFactorSet(printer, "reduction", getReductionFactors());
  printFactorSet(printer, "need_replication", getNeedReplicationFactors());
  printFactorSet(printer, "permutation", getPermutationFactors());
  printFactorSet(printer, "blocked_propagation", getBlockedPropagationFactors());
  printer << (getIsCustomRule() ? ", custom>" : ">");
}

} // namespace tessera::sdy
