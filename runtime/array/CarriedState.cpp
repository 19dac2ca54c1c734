#include "runtime/array/CarriedState.h"
#include "runtime/array/Placement.h"
#include <algorithm>
#include <map>
#include <set>

namespace tessera::runtime {

namespace {

// Leaves below a tree, by the way from there.
struct Tree {
  std::string name;
  std::map<std::string, size_t, std::less<>> leaves;
};

const std::string &nameOfOutput(const Signature &s, size_t i) { return s.outputs[i]->name(); }

bool isSameArray(const Signature &s, size_t output, size_t input) {
  return s.outputs[output]->type() == s.inputs[input]->type() &&
         globalShape(*s.outputs[output]) == globalShape(*s.inputs[input]);
}

// Whether every leaf of the argument has one in `from`, of its type and shape.
bool hasLeavesOf(const Signature &s, const Tree &from, const Tree &argument) {
  return std::all_of(argument.leaves.begin(), argument.leaves.end(), [&](const auto &leaf) {
    auto found = from.leaves.find(leaf.first);
    return found != from.leaves.end() && isSameArray(s, found->second, leaf.second);
  });
}

// By root, in the order of the arguments.
std::vector<Tree> argumentsOf(const Parameters &inputs) {
  std::vector<Tree> trees;
  std::map<std::string, size_t> byRoot;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string &name = inputs[i]->name();
    std::string root = name.substr(0, treeBorders(name).front());
    auto [found, isNew] = byRoot.try_emplace(root, trees.size());
    if (isNew)
      trees.push_back({root, {}});
    trees[found->second].leaves.emplace(name.substr(root.size()), i);
  }
  return trees;
}

// Every tree that outputs are in: result, result[0], result[0].params, ..
std::vector<Tree> treesOf(const Parameters &outputs) {
  std::vector<Tree> trees;
  std::map<std::string, size_t> byName;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string &name = outputs[i]->name();
    for (size_t border : treeBorders(name)) {
      auto [found, isNew] = byName.try_emplace(name.substr(0, border), trees.size());
      if (isNew)
        trees.push_back({name.substr(0, border), {}});
      trees[found->second].leaves.emplace(name.substr(border), i);
    }
  }
  return trees;
}

CarriedTree pair(const Tree &from, const Tree &argument) {
  CarriedTree carried{from.name, argument.name, {}};
  for (const auto &[way, input] : argument.leaves)
    carried.leaves.push_back({from.leaves.find(way)->second, input});
  std::sort(carried.leaves.begin(), carried.leaves.end(),
            [](const Carried &a, const Carried &b) { return a.input < b.input; });
  return carried;
}

class Search {
public:
  explicit Search(const Signature &signature)
      : s_(signature), arguments_(argumentsOf(s_.inputs)), trees_(treesOf(s_.outputs)) {}

  Result<std::vector<CarriedTree>> run() {
    for (bool single : {false, true}) // what trees take is not left for single arrays
      for (const Tree &argument : arguments_) {
        if (isSingle(argument) != single)
          continue;
        std::vector<const Tree *> from = candidatesOf(argument);
        if (from.size() > 1)
          return ambiguous(argument, from);
        if (from.empty())
          continue;
        found_.emplace_back(&argument, from[0]);
        for (const auto &[way, input] : argument.leaves)
          claimed_.insert(from[0]->leaves.find(way)->second);
      }
    if (Status s = settleRivals(); !s.ok())
      return s;
    std::vector<CarriedTree> carried;
    for (auto [argument, from] : found_)
      carried.push_back(pair(*from, *argument));
    if (carried.empty())
      return invalidArgument("no output goes on as an input: none has the leaves or the name of an "
                             "argument, or is the only one to take its donated buffer; say which "
                             "do: --carry=out0:in0,.. ('tessera info' lists the names)");
    return carried;
  }

private:
  std::vector<const Tree *> candidatesOf(const Tree &argument) const {
    std::vector<const Tree *> fitting, named;
    for (const Tree &tree : trees_)
      if (hasLeavesOf(s_, tree, argument)) {
        fitting.push_back(&tree);
        if (lastWord(tree.name) == argument.name && mayGoOn(argument, tree))
          named.push_back(&tree);
      }
    if (!named.empty())
      return shallowest(named);
    return isSingle(argument) ? aliasOf(argument, fitting) : shallowest(fitting);
  }

  // A name deep among the outputs means nothing alone: result[1]['x'] may be what became of x.
  bool mayGoOn(const Tree &argument, const Tree &tree) const {
    return treeBorders(tree.name).size() <= 2 || isDonated(argument);
  }

  bool isDonated(const Tree &argument) const {
    return std::any_of(argument.leaves.begin(), argument.leaves.end(),
                       [&](const auto &leaf) { return s_.inputs[leaf.second]->donated(); });
  }

  static bool isSingle(const Tree &argument) {
    return argument.leaves.size() == 1 && argument.leaves.begin()->first.empty();
  }

  static std::vector<const Tree *> shallowest(std::vector<const Tree *> trees) {
    size_t least = SIZE_MAX;
    for (const Tree *tree : trees)
      least = std::min(least, treeBorders(tree->name).size());
    std::erase_if(trees, [&](const Tree *t) { return treeBorders(t->name).size() > least; });
    return trees;
  }

  // Which output takes a buffer follows from types and shapes alone: where several could, it says
  // nothing.
  std::vector<const Tree *> aliasOf(const Tree &argument, std::vector<const Tree *> fitting) const {
    size_t input = argument.leaves.begin()->second;
    bool isTaken = std::any_of(s_.alias.begin(), s_.alias.end(),
                               [&](int64_t alias) { return alias == static_cast<int64_t>(input); });
    std::erase_if(fitting, [&](const Tree *t) { return claimed_.count(t->leaves.at("")); });
    return isTaken ? fitting : std::vector<const Tree *>();
  }

  // Of two arguments that would go on from the same output the donated one does.
  Status settleRivals() {
    std::map<const Tree *, std::vector<const Tree *>> rivals; // by output
    for (auto [argument, from] : found_)
      rivals[from].push_back(argument);
    for (auto &[from, arguments] : rivals) {
      if (arguments.size() == 1)
        continue;
      std::erase_if(arguments, [&](const Tree *a) { return !isDonated(*a); });
      if (arguments.size() != 1) {
        std::string names;
        for (auto [argument, other] : found_)
          if (other == from)
            names += (names.empty() ? "" : " and ") + argument->name;
        return invalidArgument("both " + names + " could go on from " + from->name +
                               "; say which does: --carry='" + from->name + ":..'");
      }
      std::erase_if(found_, [&, from = from, donated = arguments[0]](const auto &each) {
        return each.second == from && each.first != donated;
      });
    }
    return {};
  }

  static Status ambiguous(const Tree &argument, const std::vector<const Tree *> &from) {
    std::string names;
    for (size_t i = 0; i < from.size() && i < 8; ++i)
      names += (i ? " or " : "") + from[i]->name;
    return invalidArgument("argument " + argument.name + " could go on from " + names +
                           "; say from which: --carry='" + from[0]->name + ":" + argument.name +
                           ",..'");
  }

  const Signature &s_;
  const std::vector<Tree> arguments_, trees_;
  std::vector<std::pair<const Tree *, const Tree *>> found_; // argument, output
  std::set<size_t> claimed_;                                 // outputs
};

// A number or a name is one leaf; otherwise all that are below that tree.
Tree resolve(const Parameters &parameters, std::string_view prefix, std::string_view name) {
  Tree tree{std::string(name), {}};
  if (auto index = indexOfName(parameters, prefix, name); index.ok()) {
    tree.leaves.emplace("", *index);
    return tree;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string &own = parameters[i]->name();
    std::vector<size_t> borders = treeBorders(own);
    if (own.starts_with(name) && std::count(borders.begin(), borders.end(), name.size()))
      tree.leaves.emplace(own.substr(name.size()), i);
  }
  return tree;
}

Result<CarriedTree> readPair(std::string_view text, const Signature &s) {
  size_t colon = findOutside(text, ':');
  std::string who = "--carry=" + std::string(text) + ": ";
  if (colon == text.size())
    return invalidArgument("--carry takes pairs OUT:IN, not '" + std::string(text) + "'");
  std::string_view from = text.substr(0, colon), to = text.substr(colon + 1);
  Tree outputs = resolve(s.outputs, "out", from), inputs = resolve(s.inputs, "in", to);
  for (auto [tree, kind, parameters, prefix] :
       {std::tuple(&outputs, "output", &s.outputs, "out"), {&inputs, "input", &s.inputs, "in"}})
    if (tree->leaves.empty())
      return invalidArgument(who + "there is no " + kind + " '" + tree->name +
                             "': " + listOfParameters(*parameters, prefix));
  for (const auto &[way, input] : inputs.leaves) {
    auto found = outputs.leaves.find(way);
    const program::Parameter &wanted = *s.inputs[input];
    if (found == outputs.leaves.end())
      return invalidArgument(who + "'" + outputs.name + "' has no output for the input '" +
                             wanted.name() + "'");
    if (!isSameArray(s, found->second, input))
      return invalidArgument(who + "output '" + nameOfOutput(s, found->second) + "' is " +
                             describeGlobal(*s.outputs[found->second]) + ", input '" +
                             wanted.name() + "' is " + describeGlobal(wanted));
  }
  return pair(outputs, inputs);
}

} // namespace

Result<std::vector<CarriedTree>> findCarried(const Signature &signature) {
  return Search(signature).run();
}

Result<std::vector<CarriedTree>> readCarried(std::string_view list, const Signature &signature) {
  std::vector<CarriedTree> carried;
  std::set<size_t> inputs;
  while (!list.empty()) {
    std::string_view text = list.substr(0, findOutside(list, ','));
    list.remove_prefix(std::min(list.size(), text.size() + 1));
    auto tree = readPair(text, signature);
    if (!tree.ok())
      return tree.status();
    for (const Carried &leaf : tree->leaves)
      if (!inputs.insert(leaf.input).second)
        return invalidArgument("--carry gives the input '" + signature.inputs[leaf.input]->name() +
                               "' two outputs");
    carried.push_back(std::move(*tree));
  }
  return carried;
}

} // namespace tessera::runtime
