#include "lib/command/Arguments.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <numeric>

namespace tessera::command {

namespace {

// How many letters are to be put in, taken out or replaced (Levenshtein, 1966).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Exactly a number, with nothing around it.
template <class T> std::optional<T> parsed(const std::string &text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

std::string_view nearest(std::string_view given, const std::vector<std::string_view> &names) {
  std::string_view best;
  size_t least = std::max<size_t>(2, given.size() / 4) + 1;
  for (std::string_view name : names)
    if (size_t d = distance(given, name); d < least) {
      least = d;
      best = name;
    }
  return best;
}

Arguments::Arguments(const Command &command, int argc, const char *const *argv)
    : command_(command) {
  for (int i = 0; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      help_ = true;
      continue;
    }
    if (!argument.starts_with("-") || argument == "-") {
      if (!operand_.empty())
        misuse("two " + std::string(command.operand) + "s: " + operand_ + " and " +
               std::string(argument));
      else
        operand_ = argument;
      continue;
    }
    size_t equals = argument.find('=');
    std::string_view name = argument.substr(0, equals);
    const Option *option = findOption(command, name);
    std::optional<std::string_view> value;
    if (equals != argument.npos)
      value = argument.substr(equals + 1);
    else if (option && !option->otherwise.empty())
      value = option->otherwise; // what follows may be the operand
    else if (option && !option->value.empty() && i + 1 < argc &&
             !std::string_view(argv[i + 1]).starts_with("--"))
      value = argv[++i];
    take(option, name, value);
  }
  if (operand_.empty() && !command.operand.empty())
    misuse("no " + std::string(command.operand) + ": tessera " + std::string(command.name) + " " +
           std::string(command.usage.substr(0, command.usage.find(' '))));
  if (help_)
    wrong_.clear();
}

void Arguments::take(const Option *option, std::string_view name,
                     std::optional<std::string_view> value) {
  if (!option) {
    std::vector<std::string_view> names;
    for (const Option &each : command_.options)
      names.push_back(each.name);
    std::string_view meant = nearest(name, names);
    misuse("unknown option " + std::string(name) +
           (meant.empty() ? "" : ", did you mean " + std::string(meant) + "?"));
  } else if (option->value.empty()) {
    if (value)
      misuse(std::string(name) + " takes no value");
    values_.emplace_back(option->name, "");
  } else if (!value || value->empty()) {
    misuse(std::string(name) + " takes a value: " + std::string(name) +
           (name.starts_with("--") ? "=" : " ") + std::string(option->value));
  } else {
    values_.emplace_back(option->name, *value);
  }
}

void Arguments::fail(const std::string &what) {
  if (wrong_.empty())
    wrong_ = what;
}

void Arguments::misuse(const std::string &what) {
  fail(what + "; see tessera " + std::string(command_.name) + " --help");
}

bool Arguments::has(std::string_view option) const {
  assert(findOption(command_, option) && "an option of the table");
  return std::any_of(values_.begin(), values_.end(), [&](auto &v) { return v.first == option; });
}

std::string Arguments::value(std::string_view option, std::string_view otherwise) const {
  assert(findOption(command_, option) && "an option of the table");
  auto found = std::find_if(values_.rbegin(), values_.rend(),
                            [&](const auto &each) { return each.first == option; });
  return found == values_.rend() ? std::string(otherwise) : found->second;
}

int64_t Arguments::number(std::string_view option, std::string_view noun, int64_t otherwise) {
  if (!has(option))
    return otherwise;
  std::string text = value(option);
  if (auto number = parsed<int64_t>(text); number && *number > 0)
    return *number;
  fail(std::string(option) + " takes a number of " + std::string(noun) + ", not " + quoted(text));
  return otherwise;
}

double Arguments::positive(std::string_view option, std::string_view noun, double otherwise) {
  if (!has(option))
    return otherwise;
  std::string text = value(option);
  if (auto number = parsed<double>(text); number && *number > 0)
    return *number;
  fail(std::string(option) + " takes a number of " + std::string(noun) + ", not " + quoted(text));
  return otherwise;
}

} // namespace tessera::command
