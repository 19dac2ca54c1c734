// Programs for tests of plans, written as einsums.
#pragma once

#include "lib/plan/Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>

namespace tessera::plan {

//   EinsumProgram p;
//   int32_t x = p.argument({8, 64}), w = p.argument({64, 32});
//   int32_t y = p.einsum("bk,kn->bn", {x, w});
//   p.result(y);
class EinsumProgram {
public:
  Program program;

  int32_t argument(sharding::Shape shape) {
    int32_t v = value(std::move(shape));
    program.values[v].argument = arguments++;
    return v;
  }

  // Letters that the result lacks are summed. A group in brackets is one dimension: "bsd->(bs)d".
  int32_t einsum(llvm::StringRef spec, std::vector<int32_t> operands,
                 sharding::OpClass opClass = sharding::OpClass::Other) {
    auto [left, right] = spec.split("->");
    llvm::SmallVector<llvm::StringRef> parts;
    left.split(parts, ',');
    std::map<char, int64_t> sizes;
    for (auto [part, v] : llvm::zip_equal(parts, operands))
      for (auto [letters, size] : llvm::zip_equal(dimsOf(part), shapeOf(v)))
        if (letters.size() == 1)
          sizes[letters[0]] = size;
    for (auto [part, v] : llvm::zip_equal(parts, operands)) // the first of a group may be new
      for (auto [letters, size] : llvm::zip_equal(dimsOf(part), shapeOf(v)))
        if (letters.size() > 1) {
          int64_t rest = size;
          for (char letter : llvm::StringRef(letters).drop_front())
            rest /= sizes.at(letter);
          sizes[letters[0]] = rest;
        }
    return op(parts, right, operands, sizes, opClass);
  }

  // [b, (h c)] -> [b, h, c], sizes of new letters given.
  int32_t reshape(llvm::StringRef spec, int32_t operand, std::map<char, int64_t> sizes) {
    auto [left, right] = spec.split("->");
    return op({left}, right, {operand}, sizes, sharding::OpClass::PassThrough);
  }

  int32_t pointwise(std::vector<int32_t> operands) {
    std::string letters = llvm::StringRef("abcdefgh").take_front(shapeOf(operands[0]).size()).str();
    std::string spec = letters;
    for (size_t i = 1; i < operands.size(); ++i)
      spec += "," + letters;
    int32_t v = einsum(spec + "->" + letters, operands, sharding::OpClass::PassThrough);
    program.graph.ops.back().elementwise = true;
    return v;
  }

  int32_t result(int32_t operand) {
    std::string letters = llvm::StringRef("abcdefgh").take_front(shapeOf(operand).size()).str();
    int32_t v = einsum(letters + "->" + letters, {operand}, sharding::OpClass::Return);
    program.values[v].result = results++;
    return v;
  }

  sharding::FactorRule &lastRule() { return program.graph.rules.back(); }

private:
  int32_t value(sharding::Shape shape) {
    sharding::PropagatedValue value;
    value.sharding.dims.resize(shape.size(), {{}, /*closed=*/false, std::nullopt});
    value.shape = std::move(shape);
    program.graph.values.push_back(std::move(value));
    program.values.emplace_back();
    return program.graph.values.size() - 1;
  }

  const sharding::Shape &shapeOf(int32_t v) const { return program.graph.values[v].shape; }

  static std::vector<std::string> dimsOf(llvm::StringRef spec) {
    std::vector<std::string> dims;
    bool inside = false;
    for (char c : spec) {
      if (c == '(' || c == ')') {
        inside = c == '(';
        if (inside)
          dims.emplace_back();
      } else if (inside) {
        dims.back() += c;
      } else {
        dims.emplace_back(1, c);
      }
    }
    return dims;
  }

  int32_t op(llvm::ArrayRef<llvm::StringRef> parts, llvm::StringRef right,
             const std::vector<int32_t> &operands, const std::map<char, int64_t> &sizes,
             sharding::OpClass opClass) {
    sharding::FactorRule rule;
    std::map<char, int32_t> number;
    double flops = 1;
    for (auto [letter, size] : sizes) {
      number[letter] = rule.factors.size();
      rule.factors.push_back({size, right.contains(letter) ? sharding::FactorKind::PassThrough
                                                           : sharding::FactorKind::Reduction});
      flops *= static_cast<double>(size);
    }
    sharding::Shape shape;
    auto factorsOf = [&](llvm::StringRef spec, sharding::Shape *shape) {
      sharding::TensorFactors tensor;
      for (const std::string &letters : dimsOf(spec)) {
        int64_t size = 1;
        sharding::DimFactors &dim = tensor.emplace_back();
        for (char letter : letters) {
          dim.push_back(number.at(letter));
          size *= sizes.at(letter);
        }
        if (shape)
          shape->push_back(size);
      }
      return tensor;
    };
    for (llvm::StringRef part : parts)
      rule.operands.push_back(factorsOf(part, nullptr));
    rule.results.push_back(factorsOf(right, &shape));
    sharding::PropagatedOp op;
    op.rule = program.graph.rules.size();
    op.opClass = opClass;
    op.flops = operands.size() > 1 ? 2 * flops : flops;
    op.operands.assign(operands.begin(), operands.end());
    op.results = {value(shape)};
    program.graph.rules.push_back(std::move(rule));
    for (int32_t v : operands)
      if (auto &ops = program.graph.values[v].ops;
          ops.empty() || ops.back() != int32_t(program.graph.ops.size()))
        ops.push_back(program.graph.ops.size());
    program.graph.values[op.results[0]].ops.push_back(program.graph.ops.size());
    program.graph.ops.push_back(std::move(op));
    OpFacts &facts = program.ops.emplace_back(); // each a kernel
    facts.flops = program.graph.ops.back().flops;
    facts.isProduct = true;
    facts.operandTimes.assign(operands.size(), 1);
    auto index = int32_t(program.ops.size()) - 1;
    facts.turns = {{index, index, {operands.begin(), operands.end()}}};
    facts.reads.assign(operands.size(), 1);
    facts.writes.assign(1, 1);
    return program.graph.ops.back().results[0];
  }

  int32_t arguments = 0, results = 0;
};

} // namespace tessera::plan
