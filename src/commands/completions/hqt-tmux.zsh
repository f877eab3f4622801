#compdef hqt-tmux
# Completion for zsh. What can stand at the cursor is said by the program itself; zsh quotes it.
_hqt-tmux() {
    local answer word shown_as
    local -a parts found shown
    answer=$(command hqt-tmux complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)
    parts=("${(@0)${answer%$'\0'}}")
    case $parts[1] in
    (words)
        shift parts
        for word shown_as in "$parts[@]"; do
            found+=("$word") shown+=("$shown_as")
        done
        compadd -l -V hqt-tmux -d shown -a found
        ;;
    (folders) _files -/ ;;
    (files) _files ;;
    esac
}
compdef _hqt-tmux hqt-tmux
# As a file in fpath it is called by its name for the first time right now.
[[ $funcstack[1] != _hqt-tmux ]] || _hqt-tmux "$@"
