#include "compiler/source/Nesting.h"

#include "compiler/source/SourceText.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {

using namespace mlir;

namespace {

// The place at which more than `most` brackets are open, or npos.
size_t findTooDeep(llvm::StringRef text, unsigned most) {
  // Each kind for itself: `>` is also part of arrows and comparisons, and closes nothing then.
  unsigned round = 0, square = 0, curly = 0, angle = 0, signs = 0;
  auto close = [](unsigned &open) { open -= open > 0; };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      continue;
    bool isSign = c == '-' && next != '>';
    signs = isSign ? signs + 1 : 0;
    bool mayBegin = c == '"' || c == '/'; // a string or a comment
    if (size_t behind = mayBegin ? behindStringOrComment(text, i) : i; behind != i)
      i = behind - 1;
    else if (c == '(')
      ++round;
    else if (c == ')')
      close(round);
    else if (c == '[')
      ++square;
    else if (c == ']')
      close(square);
    else if (c == '{')
      ++curly;
    else if (c == '}')
      close(curly);
    else if (c == '<' && next != '=')
      ++angle;
    else if (c == '>' && next != '=' && (i == 0 || text[i - 1] != '-'))
      close(angle);
    if (round + square + curly + angle + signs > most)
      return i;
  }
  return llvm::StringRef::npos;
}

// The place of an affine expression's operator number `most` + 1, or npos: MLIR's parser takes time
// with the square of them.
size_t findLongExpression(llvm::StringRef text, unsigned most) {
  if (!text.contains("affine_map<") && !text.contains("affine_set<"))
    return llvm::StringRef::npos;
  unsigned operators = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (size_t behind = behindStringOrComment(text, i); behind != i) {
      i = behind - 1;
      continue;
    }
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    llvm::StringRef rest = text.substr(i);
    if (!inside) {
      inside = c == 'a' && (rest.starts_with("affine_map<") || rest.starts_with("affine_set<"));
      operators = 0;
      continue;
    }
    if (c == ',')
      operators = 0;
    else if (c == '>' && next != '=' && text[i - 1] != '-')
      inside = false;
    else if (c == '+' || c == '*' || (c == '-' && next != '>') || rest.starts_with("mod") ||
             rest.starts_with("floordiv") || rest.starts_with("ceildiv"))
      if (++operators > most)
        return i;
  }
  return llvm::StringRef::npos;
}

constexpr uint64_t kElementsOfValue = 64; // by the memory that it takes

// What attributes, types and locations are made of.
struct Part {
  Attribute attribute;
  Type type;
  AffineExpr expression;

  const void *key() const {
    return attribute    ? attribute.getAsOpaquePointer()
           : expression ? expression.getAsOpaquePointer()
                        : type.getAsOpaquePointer();
  }

  void forEachInside(llvm::function_ref<void(Part)> visit) const {
    auto attributeInside = [&](Attribute inside) { inside ? visit({inside, {}, {}}) : void(); };
    auto typeInside = [&](Type inside) { inside ? visit({{}, inside, {}}) : void(); };
    auto expressionInside = [&](AffineExpr inside) { visit({{}, {}, inside}); };
    if (expression) {
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(expression))
        expressionInside(binary.getLHS()), expressionInside(binary.getRHS());
    } else if (auto map = dyn_cast_or_null<AffineMapAttr>(attribute)) {
      llvm::for_each(map.getValue().getResults(), expressionInside);
    } else if (auto set = dyn_cast_or_null<IntegerSetAttr>(attribute)) {
      llvm::for_each(set.getValue().getConstraints(), expressionInside);
    } else if (attribute) {
      attribute.walkImmediateSubElements(attributeInside, typeInside);
    } else {
      type.walkImmediateSubElements(attributeInside, typeInside);
    }
  }
};

// Each part is measured once, however often it is named.
class Measures {
public:
  struct Measure {
    uint64_t depth, elements;
  };

  Measure of(Part root) {
    SmallVector<Part> stack{root};
    while (!stack.empty()) {
      Part part = stack.back();
      size_t size = stack.size();
      if (!known.contains(part.key()))
        part.forEachInside([&](Part inside) {
          if (!known.contains(inside.key()))
            stack.push_back(inside);
        });
      if (stack.size() > size)
        continue;
      stack.pop_back();
      if (known.contains(part.key()))
        continue;
      Measure measure{0, 1};
      part.forEachInside([&](Part inside) {
        Measure each = known.lookup(inside.key());
        measure.depth = std::max(measure.depth, each.depth);
        measure.elements = llvm::SaturatingAdd(measure.elements, each.elements);
      });
      if (auto tuple = dyn_cast_or_null<TupleType>(part.type)) // each part becomes a value
        measure.elements = llvm::SaturatingAdd(measure.elements, kElementsOfValue * tuple.size());
      ++measure.depth;
      known[part.key()] = measure;
    }
    return known.lookup(root.key());
  }

private:
  llvm::DenseMap<const void *, Measure> known;
};

class Checker {
public:
  LogicalResult check(ModuleOp module) {
    SmallVector<std::pair<Operation *, unsigned>> stack{{module, 0}};
    while (!stack.empty()) {
      auto [op, regions] = stack.pop_back_val();
      if (regions > kMostRegions + 2) // the module's own, and the function's
        return op->emitError() << "'" << op->getName()
                               << "' is nested too deeply: programs nest loops and branches "
                               << kMostRegions << " deep at most";
      if (failed(checkParts(op)))
        return failure();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            stack.push_back({&inner, regions + 1});
    }
    return success();
  }

private:
  LogicalResult checkParts(Operation *op) {
    // Where its own location is what is too deep, nobody can say it.
    if (failed(check(op, LocationAttr(op->getLoc()), "a location")))
      return failure();
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (failed(
              check(op, attribute.getValue(), "attribute '" + attribute.getName().strref() + "'")))
        return failure();
    for (Type type : op->getResultTypes())
      if (failed(check(op, type, "a type")))
        return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(check(op, argument.getType(), "a type")) ||
              failed(check(op, LocationAttr(argument.getLoc()), "a location")))
            return failure();
    return success();
  }

  LogicalResult check(Operation *op, Attribute attribute, const llvm::Twine &what) {
    return check(op, measures.of({attribute, {}, {}}), isa<LocationAttr>(attribute), what);
  }
  LogicalResult check(Operation *op, Type type, const llvm::Twine &what) {
    return check(op, measures.of({{}, type, {}}), false, what);
  }

  LogicalResult check(Operation *op, Measures::Measure measure, bool isLocation,
                      const llvm::Twine &what) {
    elements = llvm::SaturatingAdd(elements, measure.elements);
    if (measure.depth <= kMostAttributes && elements <= kMostElements)
      return success();
    Location loc = isLocation ? UnknownLoc::get(op->getContext()) : op->getLoc();
    if (measure.depth > kMostAttributes)
      return emitError(loc) << what.str() << " of '" << op->getName() << "' is nested "
                            << measure.depth << " deep; Tessera reads " << kMostAttributes;
    return emitError(loc) << what.str() << " of '" << op->getName() << "' has " << measure.elements
                          << " elements when written out; those of a whole program have "
                          << kMostElements
                          << " at most (an alias that names another one twice doubles it)";
  }

  Measures measures;
  uint64_t elements = 0;
};

// Destroys from the outside to the inside.
void takeApart(OwningOpRef<ModuleOp> &module) {
  std::vector<Operation *> all{module.release()};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->dropAllUses();
    if (unsigned operands = all[i]->getNumOperands())
      all[i]->eraseOperands(0, operands);
    for (Region &region : all[i]->getRegions())
      for (Block &block : region) {
        block.dropAllUses();
        for (Operation &inner : block)
          all.push_back(&inner);
      }
  }
  for (size_t i = all.size(); i-- > 1;)
    all[i]->erase();
  all[0]->erase();
}

} // namespace

std::string refuseNestedText(llvm::StringRef text, llvm::StringRef name) {
  auto refuse = [&](size_t at, unsigned most, llvm::StringRef what) {
    return (name + ":" + lineAndColumn(text, at) + ": more than " + llvm::Twine(most) + what).str();
  };
  if (size_t at = findTooDeep(text, kMostBrackets); at != text.npos)
    return refuse(at, kMostBrackets, " brackets are open here: it is nested too deeply");
  if (size_t at = findLongExpression(text, kMostOperators); at != text.npos)
    return refuse(at, kMostOperators, " operators in one affine expression");
  return "";
}

LogicalResult checkNesting(OwningOpRef<ModuleOp> &module) {
  if (succeeded(Checker().check(*module)))
    return success();
  takeApart(module);
  return failure();
}

} // namespace tessera
