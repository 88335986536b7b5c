/**
 * Completion scripts of `skein completion`. They call `skein __complete`, so they never go stale.
 */

export const completionScript = (shell: string): string =>
  ({ bash: BASH, zsh: ZSH, fish: FISH })[shell] ?? '';

const BASH = String.raw`# Completion of skein for bash. To install, add this line to ~/.bashrc:
#   eval "$(skein completion bash)"
_skein() {
  local line current="\${COMP_WORDS[COMP_CWORD]}"
  [[ $current == "=" ]] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current") ;;
      :directories) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("\${line%%$'\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _skein skein
`.replaceAll('\\${', '${');

const ZSH = String.raw`#compdef skein
# Completion of skein for zsh. To install, add this line to ~/.zshrc, after compinit:
#   eval "$(skein completion zsh)"
_skein() {
  local line
  local -a values texts
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files ;;
      :directories) _files -/ ;;
      *) values+=("\${line%%$'\t'*}"); texts+=("\${line/$'\t'/  -- }") ;;
    esac
  done
  (( \${#values} )) && compadd -l -d texts -a values
}
if [[ $funcstack[1] == _skein ]]; then _skein "$@"; else compdef _skein skein; fi
`.replaceAll('\\${', '${');

const FISH = `# Completion of skein for fish. To install:
#   skein completion fish > ~/.config/fish/completions/skein.fish
function __skein_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] $current 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path $current
            case ':directories'
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c skein -f -a '(__skein_complete)'
`;
