#include "lib/command/ManPage.h"
#include "lib/command/Commands.h"

namespace tessera::command {

namespace {

// As it is, whatever its characters mean to troff: a hyphen is the minus that one can type, and no
// line begins with a control character.
std::string plain(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (escaped.empty() && (c == '.' || c == '\''))
      escaped += "\\&";
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string entryOf(const Option &option) {
  std::string head = bold(option.name);
  if (!option.value.empty())
    head += plain(option.before()) + italic(option.value) + plain(option.after());
  return ".TP\n" + head + "\n" + plain(option.help) + "\n";
}

} // namespace

std::string manPage(std::string_view version) {
  std::string page = ".TH TESSERA 1 \"\" \"Tessera " + plain(version) +
                     "\" \"User Commands\"\n.SH NAME\ntessera \\- compile models written for one "
                     "device into programs for many, and run them\n.SH SYNOPSIS\n";
  for (const Command &command : commands())
    page += bold("tessera " + std::string(command.name)) + " " + plain(command.usage) + "\n.br\n";
  page += bold("tessera --version") + "\n.SH COMMANDS\n";
  for (const Command &command : commands()) {
    page += ".SS " + bold("tessera " + std::string(command.name)) + " " + plain(command.usage) +
            "\n" + plain(command.about) + "\n";
    for (const Option &option : command.options)
      page += entryOf(option);
  }
  return page + ".SH EXIT STATUS\n0, or 1 with one line on standard error that begins with " +
         bold("error:") + ".\n.SH SEE ALSO\n" + bold("tessera SUBCOMMAND --help") +
         ", and the pages in share/doc/tessera.\n";
}

} // namespace tessera::command
