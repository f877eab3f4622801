# shellcheck shell=bash
# Completion for bash. What can stand at the cursor is said by the program itself, in bash's own quoting.
_hqt_tmux() {
    local answer=()
    COMPREPLY=()
    mapfile -t answer < <(command hqt-tmux complete bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
    case ${answer[0]-} in
    words) COMPREPLY=("${answer[@]:1}") ;;
    folders) compopt -o dirnames ;;
    files) compopt -o default ;;
    esac
}
complete -o nosort -F _hqt_tmux hqt-tmux 2>/dev/null || complete -F _hqt_tmux hqt-tmux
