# What bash completes: the words so far, and what they become.
source <(tessera completion bash)
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _tessera 2> /dev/null
  echo "$* => ${COMPREPLY[*]}"
}
complete_words tessera com
complete_words tessera run --r
complete_words tessera compile --target ""
complete_words tessera compile --target = sh
complete_words tessera compile --stop-after = re
complete_words tessera completion ""
complete_words tessera run --repeat = ""
cd "$1" && touch a.tsr b.npz && mkdir -p c
complete_words tessera run ""
complete_words tessera run a.tsr --inputs = b
