#include "lib/command/Completion.h"

#include "lib/command/Commands.h"

#include <algorithm>
#include <vector>

namespace tessera::command {

namespace {

std::vector<std::string_view> splitWords(std::string_view words) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    list.push_back(words.substr(0, words.find('|')));
    words.remove_prefix(std::min(words.size(), list.back().size() + 1));
  }
  return list;
}

std::string joinedWords(std::string_view words) {
  std::string text(words);
  std::replace(text.begin(), text.end(), '|', ' ');
  return text;
}

// Whether the operand is one of some words, rather than a file with one of some endings.
bool isWord(const Command &command) { return !command.endings.starts_with("."); }

// `text` with each of `special` after `escape`.
std::string escaped(std::string_view text, std::string_view special, std::string_view escape) {
  std::string out;
  for (char c : text) {
    if (special.find(c) != special.npos)
      out += escape;
    out += c;
  }
  return out;
}

// In the apostrophes of a shell.
std::string inApostrophes(std::string_view text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string namesOfCommands() {
  std::string names;
  for (const Command &command : commands())
    names += std::string(command.name) + " ";
  return names + "help --help --version";
}

// What bash completes an operand by: `words`, or the `endings` of files.
std::string bashOperand(const Command &command) {
  if (isWord(command))
    return "    " + std::string(command.name) + ") words='" + joinedWords(command.endings) +
           "' ;;\n";
  std::string endings = escaped(command.endings, ".", "*");
  return "    " + std::string(command.name) + ") files='@(" + endings + ")' ;;\n";
}

std::string forBash() {
  std::string options, values, operands;
  for (const Command &command : commands()) {
    std::string names;
    for (const Option &option : command.options) {
      names += std::string(option.name) +
               (option.canStandAlone() || !option.name.starts_with("--") ? " " : "= ");
      if (option.value.empty())
        continue;
      values += "    '" + std::string(command.name) + " " + std::string(option.name) + "') ";
      values += option.takesFile() ? "files='*'" : "words='" + joinedWords(option.words()) + "'";
      values += " ;;\n";
    }
    options += "    " + std::string(command.name) + ") words='" + names + "--help' ;;\n";
    operands += bashOperand(command);
  }
  return R"(# bash completion for tessera: source <(tessera completion bash)
_tessera() {
  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} words='' files='' known=yes
  COMPREPLY=()
  if [[ $word == = ]]; then
    word=''
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ')" +
         namesOfCommands() + R"(' -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]} $option" in
)" + values +
         R"(    *) known='' ;;
  esac
  if [[ -z $known && $word == -* ]]; then
    case ${COMP_WORDS[1]} in
)" + options +
         R"(    esac
  elif [[ -z $known ]]; then
    case ${COMP_WORDS[1]} in
)" + operands +
         R"(    esac
  fi
  if [[ -n $files ]]; then
    local IFS=$'\n'
    compopt -o filenames 2> /dev/null
    shopt -q extglob || { shopt -s extglob; local restore=yes; }
    COMPREPLY=($([[ $files == '*' ]] || compgen -d -- "$word"; compgen -f -X "!$files" -- "$word"))
    [[ -z $restore ]] || shopt -u extglob
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
  fi
}
complete -F _tessera tessera
)";
}

std::string zshOption(const Option &option) {
  std::string spec(option.name);
  if (!option.value.empty() && spec.starts_with("--"))
    spec += option.canStandAlone() ? "=-" : "=";
  spec += "[" + escaped(option.help, "[]\\:", "\\") + "]";
  if (!option.value.empty()) {
    spec += (option.canStandAlone() ? "::" : ":") + escaped(option.value, ":\\", "\\") + ":";
    spec += option.takesFile() ? "_files" : "(" + joinedWords(option.words()) + ")";
  }
  return "    " + inApostrophes(spec) + " \\\n";
}

std::string forZsh() {
  std::string summaries, cases;
  for (const Command &command : commands()) {
    summaries +=
        "    " +
        inApostrophes(std::string(command.name) + ":" + escaped(command.summary, ":\\", "\\")) +
        "\n";
    cases += "  " + std::string(command.name) + ") _arguments \\\n";
    for (const Option &option : command.options)
      cases += zshOption(option);
    cases += "    '--help[say what the options do]' \\\n    ";
    std::string operand = "*:" + std::string(command.operand) + ":";
    if (isWord(command)) {
      operand += "(" + joinedWords(command.endings) + ")";
    } else {
      std::string endings(command.endings);
      endings.erase(std::remove(endings.begin(), endings.end(), '.'), endings.end());
      operand += "_files -g \"*.(" + endings + ")\"";
    }
    cases += inApostrophes(operand) + " ;;\n";
  }
  return R"(#compdef tessera
# zsh completion for tessera: source <(tessera completion zsh), or a file _tessera in $fpath
_tessera() {
  local curcontext=$curcontext state line
  local -a commands
  commands=(
)" + summaries +
         R"(  )
  _arguments -C '--version[say which release this is]' '--help[say what there is]' \
    '1: :->command' '*:: :->arguments'
  if [[ $state == command ]]; then
    _describe command commands
    return
  fi
  case $words[1] in
)" + cases +
         R"(  esac
}
if [[ $funcstack[1] == _tessera ]]; then
  _tessera "$@"
else
  compdef _tessera tessera
fi
)";
}

std::string fishOption(const Command &command, const Option &option) {
  std::string line =
      "complete -c tessera -n '__fish_seen_subcommand_from " + std::string(command.name) + "' ";
  line += option.name.starts_with("--") ? "-l " + std::string(option.name.substr(2))
                                        : "-s " + std::string(option.name.substr(1));
  if (option.takesFile())
    line += " -r -F";
  else if (!option.value.empty())
    line += (option.canStandAlone() ? " -f -a '" : " -x -a '") + joinedWords(option.words()) + "'";
  return line + " -d " + inApostrophes(escaped(option.help, "\\", "\\")) + "\n";
}

std::string forFish() {
  std::string text = R"(# fish completion for tessera: tessera completion fish | source
complete -c tessera -f
complete -c tessera -n __fish_use_subcommand -l version -d 'say which release this is'
complete -c tessera -l help -d 'say what there is'
)";
  for (const Command &command : commands()) {
    text += "complete -c tessera -n __fish_use_subcommand -a " + std::string(command.name) +
            " -d " + inApostrophes(command.summary) + "\n";
    for (const Option &option : command.options)
      text += fishOption(command, option);
    std::string operand;
    if (isWord(command))
      operand = joinedWords(command.endings);
    else
      for (std::string_view ending : splitWords(command.endings))
        operand += (operand.empty() ? "(__fish_complete_suffix " : " (__fish_complete_suffix ") +
                   std::string(ending) + ")";
    text += "complete -c tessera -n '__fish_seen_subcommand_from " + std::string(command.name) +
            "' -a '" + operand + "'\n";
  }
  return text;
}

} // namespace

std::string completionFor(std::string_view shell) {
  if (shell == "bash")
    return forBash();
  if (shell == "zsh")
    return forZsh();
  return shell == "fish" ? forFish() : "";
}

} // namespace tessera::command
