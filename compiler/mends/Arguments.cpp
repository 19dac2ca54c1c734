#include "compiler/mends/Arguments.h"

#include "compiler/source/SourcePlaces.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/PlainData.h"
#include "lib/mends/ArgumentNames.h"
#include "lib/mends/SpecAlternatives.h"
#include "lib/mends/SpecText.h"
#include "lib/sharding/FactorAxes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace tessera::mends {

using namespace mlir;
using sharding::TensorSharding;

namespace {

constexpr size_t kTried = 10; // other annotations of one argument

struct Argument {
  std::string name, type;
  RankedTensorType shape; // null where it is no array
  TensorSharding lies;
  int32_t parameter; // that it belongs to, or itself
};

class ArgumentKnobs {
public:
  ArgumentKnobs(ModuleOp program, const Observations &seen)
      : meshes(program), main(program.lookupSymbol<func::FuncOp>("main")) {
    if (!main || !meshes.main() || seen.arguments.size() != main.getNumArguments())
      return;
    std::vector<std::string> types;
    std::vector<ArgumentName> names;
    for (BlockArgument value : main.getArguments()) {
      Argument argument;
      argument.name = argumentName(placeOf(value.getLoc()), value.getArgNumber());
      llvm::raw_string_ostream(argument.type) << value.getType();
      argument.shape = dyn_cast<RankedTensorType>(value.getType());
      argument.lies = seen.arguments[value.getArgNumber()];
      names.push_back(readName(argument.name));
      types.push_back(argument.type);
      arguments.push_back(std::move(argument));
    }
    parameters = parametersOf(names, types);
    for (const ArgumentName &name : names)
      trees.push_back(name.tree);
    tieResults();
  }

  void add(std::vector<Knob> &knobs) {
    addTrees(knobs);
    std::map<std::pair<int32_t, std::string>, std::vector<int32_t>> alike;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (isWorthwhile(arguments[i]))
        alike[{parameters[i], specText(*meshes.main(), arguments[i].lies)}].push_back(int32_t(i));
    std::vector<std::vector<int32_t>> groups;
    for (auto &[key, group] : alike)
      groups.push_back(std::move(group));
    for (auto &[key, group] : batches())
      groups.push_back(std::move(group));
    auto bytes = [&](const auto &group) {
      return double(group.size()) * double(byteSize(arguments[group.front()].shape));
    };
    llvm::stable_sort(groups, [&](const auto &a, const auto &b) { return bytes(a) > bytes(b); });
    for (const std::vector<int32_t> &group : groups) {
      const Argument &first = arguments[group.front()];
      Knob knob;
      for (const TensorSharding &to :
           alternatives(*meshes.main(), first.shape.getShape(), first.lies))
        if (knob.changes.size() < kTried)
          knob.changes.push_back(changeTo(group, to));
      knobs.push_back(std::move(knob));
    }
  }

private:
  bool isWorthwhile(const Argument &argument) const {
    return argument.shape && argument.shape.getRank() > 0 && argument.shape.hasStaticShape() &&
           argument.shape.getNumElements() >= meshes.main()->numDevices();
  }

  // Arguments that are no trees, of one type and sharding: what goes in and what is to come out.
  std::map<std::string, std::vector<int32_t>> batches() const {
    std::map<std::string, std::vector<int32_t>> all;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (isWorthwhile(arguments[i]) && trees[i] == arguments[i].name)
        all[arguments[i].type + specText(*meshes.main(), arguments[i].lies)].push_back(int32_t(i));
    std::erase_if(all, [](const auto &each) { return each.second.size() < 2; });
    return all;
  }

  // Arguments of one tree that lie otherwise than the parameters they belong to, all at once: the
  // state of an optimizer.
  void addTrees(std::vector<Knob> &knobs) {
    std::map<std::string, std::vector<int32_t>> others;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (isWorthwhile(arguments[i]) && arguments[i].name.front() != '%' &&
          !sameAxes(arguments[i].lies, arguments[parameters[i]].lies))
        others[trees[i]].push_back(int32_t(i));
    for (const auto &[tree, group] : others) {
      Change change;
      std::vector<std::string> names;
      for (int32_t i : group) {
        set(i, arguments[parameters[i]].lies, change);
        names.push_back(arguments[i].name);
      }
      const Argument &first = arguments[group.front()];
      change.text = namesText(names) + " as the parameters that they belong to: " + first.name +
                    " with " + specText(*meshes.main(), arguments[parameters[group.front()]].lies) +
                    " instead of " + specText(*meshes.main(), first.lies) +
                    (group.size() > 1 ? ", .." : "");
      knobs.push_back({{std::move(change)}});
    }
  }

  Change changeTo(ArrayRef<int32_t> group, const TensorSharding &to) {
    Change change;
    std::vector<std::string> names;
    for (int32_t i : group) {
      set(i, to, change);
      names.push_back(arguments[i].name);
    }
    change.text = (group.size() > 1 ? "" : "argument ") + namesText(names) + " with " +
                  specText(*meshes.main(), to) + " instead of " +
                  specText(*meshes.main(), arguments[group.front()].lies);
    return change;
  }

  void set(int32_t argument, const TensorSharding &to, Change &change) {
    change.edits.push_back({EditKind::Argument, argument, 0, to});
    for (int32_t result : results[argument])
      change.edits.push_back({EditKind::Result, result, 0, to});
  }

  // Results that go back into an argument's place at the next step: those that take its memory, and
  // those of its type, annotation and name.
  void tieResults() {
    results.resize(arguments.size());
    std::vector<bool> tied(main.getNumResults());
    for (size_t i = 0; i < arguments.size(); ++i)
      if (auto alias = main.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
        if (alias.getInt() >= 0 && alias.getInt() < int64_t(tied.size()) &&
            main.getResultAttr(alias.getInt(), sdy::kShardingAttr)) {
          results[i].push_back(int32_t(alias.getInt()));
          tied[alias.getInt()] = true;
        }
    for (size_t i = 0; i < arguments.size(); ++i)
      for (unsigned r = 0; r < tied.size() && results[i].empty(); ++r) {
        Attribute annotated = main.getResultAttr(r, sdy::kShardingAttr);
        if (tied[r] || !annotated || annotated != main.getArgAttr(i, sdy::kShardingAttr) ||
            main.getResultTypes()[r] != main.getArgumentTypes()[i])
          continue;
        auto info = main.getResultAttrOfType<StringAttr>(r, "jax.result_info");
        if (info && !endAlike(info.getValue(), arguments[i].name))
          continue;
        results[i].push_back(int32_t(r));
        tied[r] = true;
      }
  }

  // `result[1][0]['w_out']` or `result[0]['w_out']` and `params[0]['w_out']`: behind the tree, and
  // behind the result's place among several.
  static bool endAlike(StringRef result, StringRef argument) {
    auto path = [](StringRef name) {
      size_t begin = name.find_first_of("[.");
      return begin == StringRef::npos ? StringRef() : name.drop_front(begin);
    };
    StringRef of = path(argument), all = path(result), inner = all;
    if (inner.consume_front("[") && !inner.consume_front("'"))
      inner = inner.drop_front(std::min(inner.size(), inner.find(']') + 1));
    return !of.empty() && (all == of || inner == of);
  }

  sdy::MeshTable meshes;
  func::FuncOp main;
  std::vector<Argument> arguments;
  std::vector<int32_t> parameters;
  std::vector<std::string> trees;
  std::vector<SmallVector<int32_t, 1>> results; // tied to each argument
};

} // namespace

void addArgumentKnobs(ModuleOp program, const Observations &seen, std::vector<Knob> &knobs) {
  ArgumentKnobs(program, seen).add(knobs);
}

} // namespace tessera::mends
