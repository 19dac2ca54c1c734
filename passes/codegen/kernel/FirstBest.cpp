// The reducer is tried on each way that two numbers compare, of which the accumulated one comes first.
#include "passes/codegen/kernel/FirstBest.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace tessera::codegen {

namespace {

// The new number beside the accumulated one.
enum class Case : uint8_t { Less, Equal, Greater, OldIsNan, NewIsNan, BothAreNan };

// What a node of the reducer is in a case: true or false, or a component of one of the pairs.
struct Known {
  bool isTruth = false, truth = false;
  unsigned component = 0;
  bool isNew = false;
};

bool isNan(Case c, bool ofNew) {
  return c == Case::BothAreNan || c == (ofNew ? Case::NewIsNan : Case::OldIsNan);
}

std::optional<bool> compared(int direction, Case c, const Known &a, const Known &b) {
  if (a.isTruth || b.isTruth || a.component != b.component || direction > LT)
    return std::nullopt;
  if (a.component == 0 && (isNan(c, a.isNew) || isNan(c, b.isNew)))
    return direction == NE;
  int sign = 0; // of a - b
  if (a.isNew != b.isNew) {
    sign = a.component == 1 || c == Case::Greater ? 1 : c == Case::Less ? -1 : 0;
    sign = a.isNew ? sign : -sign;
  }
  switch (direction) {
  case EQ:
    return sign == 0;
  case NE:
    return sign != 0;
  case GE:
    return sign >= 0;
  case GT:
    return sign > 0;
  case LE:
    return sign <= 0;
  default:
    return sign < 0;
  }
}

class Trial {
public:
  Trial(const Reduction &reduction, Case c) : reduction(reduction), c(c) {}

  std::optional<Known> of(const Node *node) {
    if (auto side = argument(node))
      return side;
    if (node->op == Op::Constant && node->kind == ElementKind::I1)
      return Known{true, node->bits != 0};
    llvm::SmallVector<Known, 3> known;
    for (const Node *operand : node->operands) {
      std::optional<Known> value = of(operand);
      if (!value)
        return std::nullopt;
      known.push_back(*value);
    }
    switch (node->op) {
    case Op::Compare:
      if (auto truth = compared(node->aux, c, known[0], known[1]))
        return Known{true, *truth};
      return std::nullopt;
    case Op::Select:
      return known[0].isTruth ? std::optional(known[known[0].truth ? 1 : 2]) : std::nullopt;
    case Op::Not:
      return known[0].isTruth ? std::optional(Known{true, !known[0].truth}) : std::nullopt;
    case Op::And:
    case Op::Or:
      if (!known[0].isTruth || !known[1].isTruth)
        return std::nullopt;
      return Known{true, node->op == Op::And ? known[0].truth && known[1].truth
                                             : known[0].truth || known[1].truth};
    case Op::Min: // of places
    case Op::Max:
      if (known[0].isTruth || known[1].isTruth || known[0].component != 1 ||
          known[1].component != 1)
        return std::nullopt;
      return known[known[0].isNew == (node->op == Op::Max) ? 0 : 1];
    default:
      return std::nullopt;
    }
  }

private:
  std::optional<Known> argument(const Node *node) const {
    for (unsigned i = 0; i < 2; ++i)
      if (node == reduction.lhs[i] || node == reduction.rhs[i])
        return Known{false, false, i, node == reduction.rhs[i]};
    return std::nullopt;
  }

  const Reduction &reduction;
  const Case c;
};

// Whether places grow with the loops' positions, outer ones first.
bool grows(const Graph &graph, const Reduction &reduction, const Node *place) {
  while (place->op == Op::Convert || place->op == Op::Add) {
    bool isSecond = place->op == Op::Add && !(place->operands[0]->deps & reduction.ownDims);
    if (place->op == Op::Add && (place->operands[isSecond ? 0 : 1]->deps & reduction.ownDims))
      return false;
    place = place->operands[isSecond];
    if (byteSize(place->kind) < 4)
      return false;
  }
  if (place->op != Op::Iota || byteSize(place->kind) < 4 || !place->index->nodes.empty())
    return false;
  int64_t reach = 0; // of the loops inside
  for (unsigned dim : llvm::reverse(reduction.dims)) {
    int64_t step = place->index->coefficient(dim);
    if (step <= reach)
      return false;
    reach += step * (graph.dims[dim].size - 1);
  }
  return reach < INT32_MAX;
}

} // namespace

Reduction::Best firstBestOf(const Graph &graph, const Reduction &reduction) {
  if (reduction.results.size() != 2 || reduction.inputs.size() != 2 ||
      reduction.inputs[0]->kind == ElementKind::I1 || !isInteger(reduction.inputs[1]->kind) ||
      !grows(graph, reduction, reduction.inputs[1]))
    return Reduction::NoBest;
  Reduction::Best best = Reduction::NoBest;
  for (Case c :
       {Case::Less, Case::Greater, Case::Equal, Case::OldIsNan, Case::NewIsNan, Case::BothAreNan}) {
    if (!isFloat(reduction.inputs[0]->kind) && c >= Case::OldIsNan)
      break;
    Trial trial(reduction, c);
    std::optional<Known> number = trial.of(reduction.results[0]),
                         place = trial.of(reduction.results[1]);
    if (!number || !place || number->isTruth || place->isTruth || number->component != 0 ||
        place->component != 1)
      return Reduction::NoBest;
    if (c == Case::Less)
      best = place->isNew ? Reduction::Smallest : Reduction::Largest;
    bool takesNew =
        c == Case::NewIsNan || c == (best == Reduction::Largest ? Case::Greater : Case::Less);
    bool areAlike = c == Case::Equal || c == Case::BothAreNan;
    if (place->isNew != takesNew || (!areAlike && number->isNew != takesNew))
      return Reduction::NoBest;
  }
  return best;
}

} // namespace tessera::codegen
