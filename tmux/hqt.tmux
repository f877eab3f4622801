#!/bin/sh
# The tmux plugin: binds the keys and fills the status line. Options and keys are described in the README.
#
# Everything that comes from a person or a folder name is put into a tmux command by the format modifier
# "q:", which quotes it for tmux and for sh; a value that a format inserts is not expanded a second time.

exec >/dev/null 2>&1 # run-shell shows what a plugin prints in the user's pane

root=$(cd -P -- "$(dirname -- "$0")/.." && pwd)

option() {
    tmux show-option -gqv "$1"
}

# A word that ends in ";" would end the tmux command.
word() {
    case $1 in
    *\;) printf '%s\\;' "${1%\;}" ;;
    *) printf '%s' "$1" ;;
    esac
}

# The absolute path of the program, or nothing.
program() {
    wanted=$(option @hqt-binary)
    # shellcheck disable=SC2088 # the tilde is as the user wrote it
    case $wanted in
    '') set -- hqt-tmux "$root/target/release/hqt-tmux" "${CARGO_HOME:-$HOME/.cargo}/bin/hqt-tmux" ;;
    '~/'*) set -- "$HOME/${wanted#'~/'}" ;;
    *) set -- "$wanted" ;;
    esac
    for candidate; do
        command -v "$candidate" && return
    done
}

# --- a tmux that is too old for the rest, which is then left out -------------------------------------------------

version=$(tmux -V) # an old server can't be asked while it reads its configuration
version=${version#tmux }
case $version in
[012].* | 3.[01] | 3.[01][!0-9]*)
    # Words only that every tmux knows; and what confirm-before shows stays until a key is pressed.
    tmux set-option -gqo @hqt-key S \; set-option -gqo @hqt-resume-key R \; \
        set-option -g @hqt-notice "hqt-tmux needs tmux 3.2 or newer, and this is $version"
    for name in @hqt-key @hqt-resume-key; do
        key=$(tmux show-option -gqv "$name")
        [ -z "$key" ] ||
            tmux bind-key "$(word "$key")" confirm-before -p '#{@hqt-notice} (any key)' refresh-client
    done
    tmux display-message '#{@hqt-notice}'
    exit 0
    ;;
esac

# --- bindings and status -----------------------------------------------------------------------------------------

# bind_key KEY NOTE COMMAND...: an empty key means no binding.
bind_key() {
    key=$1 note=$2
    shift 2
    [ -z "$key" ] || tmux bind-key -N "$note" "$(word "$key")" "$@"
}

# Puts the program's status line in place of every #{hqt_status} of one option.
fill_status() {
    rest=$(option "$1") filled=
    case $rest in *'#{hqt_status}'*) ;; *) return ;; esac
    while :; do
        case $rest in
        *'#{hqt_status}'*)
            filled="$filled${rest%%'#{hqt_status}'*}#(#{q:@hqt-program} doctor --status)"
            rest=${rest#*'#{hqt_status}'}
            ;;
        *) break ;;
        esac
    done
    tmux set-option -g "$1" "$(word "$filled$rest")"
}

program=$(program)

# "-o" keeps what the user has set.
tmux set-option -gqo @hqt-key S \; \
    set-option -gqo @hqt-resume-key R \; \
    set-option -gqo @hqt-popup-width 80% \; \
    set-option -gqo @hqt-popup-height 70% \; \
    set-option -g @hqt-program "$(word "$program")"

if [ -n "$program" ]; then
    # A cancelled prompt (130) closes the popup, an error leaves it open (-EE) until it was read. The client and
    # the pane that pressed the key are known to run-shell alone: nothing inside a popup tells them.
    # shellcheck disable=SC2016 # expanded by the sh in the popup
    in_popup='trap : INT
        HQT_CLIENT=$1 HQT_PANE=$2 "$3" "$4"
        code=$?
        case $code in 0 | 130) exit 0 ;; esac
        printf "\n(Escape closes this.)\n"
        exit $code'
    popup="display-popup -EE -c #{q:client_name} -t #{pane_id} -d '##{pane_current_path}'"
    popup="$popup -w #{q:@hqt-popup-width} -h #{q:@hqt-popup-height}"
    popup="$popup /bin/sh -c '$in_popup' hqt-tmux #{q:client_name} #{pane_id} #{q:@hqt-program}"
    bind_key "$(option @hqt-key)" 'Start a harness (hqt-tmux)' run-shell -C "$popup new"
    bind_key "$(option @hqt-resume-key)" 'Resume a session (hqt-tmux)' run-shell -C "$popup resume"
    fill_status status-left
    fill_status status-right
else
    # The text stands in an option: inserted by a format, a folder name in it is not expanded.
    tmux set-option -g @hqt-notice \
        "hqt-tmux: program missing: run $root/tmux/setup --build, then reload tmux"
    set -- display-message -d 8000 '#{@hqt-notice}'
    bind_key "$(option @hqt-key)" 'Start a harness (hqt-tmux is missing)' "$@"
    bind_key "$(option @hqt-resume-key)" 'Resume a session (hqt-tmux is missing)' "$@"
    tmux "$@"
fi
exit 0 # run-shell shows any other code in the user's pane
