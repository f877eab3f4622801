# Completion for fish. What can stand at the cursor is said by the program itself; fish quotes it.
function __hqt_tmux_answer
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (command hqt-tmux complete fish -- $tokens[2..-1] "$current" 2>/dev/null </dev/null | string split0)
    switch "$answer[1]"
        case words
            printf '%s\0' $answer[2..-1] | string split0
        case folders
            __fish_complete_directories "$current"
        case files
            __fish_complete_path "$current"
    end
end
complete -c hqt-tmux -e
complete -c hqt-tmux -k -f -a '(__hqt_tmux_answer)'
