#include "lib/command/Help.h"

namespace tessera::command {

namespace {

constexpr size_t kColumns = 100, kIndent = 25;

// `text` after `column` columns, its lines as wide as a terminal, each but the first indented.
std::string wrapped(std::string_view text, size_t column, size_t indent) {
  std::string lines;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    bool isFirst = lines.empty();
    if (!isFirst && column + 1 + word.size() > kColumns) {
      lines.append("\n").append(indent, ' ');
      column = indent;
      isFirst = true;
    }
    lines.append(isFirst ? "" : " ").append(word);
    column += word.size() + !isFirst;
  }
  return lines + "\n";
}

//   --inputs=FILE          the inputs; random small ones without it
std::string row(std::string head, std::string_view text) {
  head.insert(0, "  ");
  if (head.size() + 2 > kIndent)
    head += "\n" + std::string(kIndent, ' ');
  else
    head.append(kIndent - head.size(), ' ');
  return head + wrapped(text, kIndent, kIndent);
}

} // namespace

std::string helpOf(const Command &command) {
  std::string text = "usage: tessera " + std::string(command.name) + " " +
                     std::string(command.usage) + "\n\n" + wrapped(command.about, 0, 0);
  if (!command.options.empty())
    text += "\n";
  for (const Option &option : command.options) {
    std::string head(option.name);
    if (!option.value.empty())
      head.append(option.before()).append(option.value).append(option.after());
    std::string help(option.help);
    if (!option.choices.empty() && help.find(option.choices.substr(0, 6)) == help.npos) {
      help += ": ";
      for (char c : option.choices)
        help += c == '|' ? std::string(", ") : std::string(1, c);
    }
    text += row(head, help);
  }
  return text;
}

std::string helpOfAll() {
  std::string text;
  for (const Command &command : commands())
    text += (text.empty() ? "usage: tessera " : "       tessera ") + std::string(command.name) +
            " " + std::string(command.usage) + "\n";
  text += "       tessera --version\n\n";
  for (const Command &command : commands())
    text += std::string(command.name) + std::string(12 - command.name.size(), ' ') +
            std::string(command.summary) + "\n";
  return text + "`tessera SUBCOMMAND --help` tells the options.\n";
}

} // namespace tessera::command
