#!/bin/sh
# The tmux plugin: binds the keys and fills the status line. Options and keys are described in the README.
#
# Everything that comes from a person or a folder name is put into a tmux command by the format modifier
# "q:", which quotes it for tmux and for sh; a value that a format inserts is not expanded a second time.
# It does not quote line breaks: no folder name goes through sh.

exec >/dev/null 2>&1 # run-shell shows what a plugin prints in the user's pane

root=$(cd -P -- "$(dirname -- "$0")/.." && pwd)

# The server's own program, where the system tells it, else one of the usual folders: what PATH calls tmux may be
# something that an agent has put into a project.
client=${TMUX%,*}
client=$(readlink "/proc/${client##*,}/exe")
for client in "${client%' (deleted)'}" /usr/bin/tmux /usr/local/bin/tmux /opt/homebrew/bin/tmux "$(command -v tmux)"; do
    [ ! -f "$client" ] || [ ! -x "$client" ] || break
done
tmux() { "$client" "$@"; }

# A word that ends in ";" would end the tmux command.
word() {
    case $1 in
    *\;) printf '%s\\;' "${1%\;}" ;;
    *) printf '%s' "$1" ;;
    esac
}

# The absolute path of the program for @hqt-binary, or nothing.
program() {
    # shellcheck disable=SC2088 # the tilde is as the user wrote it
    case $1 in
    '') set -- hqt-tmux "$root/target/release/hqt-tmux" "${CARGO_HOME:-$HOME/.cargo}/bin/hqt-tmux" ;;
    '~/'*) set -- "$HOME/${1#'~/'}" ;;
    esac
    for candidate; do
        candidate=$(command -v "$candidate") && [ -f "$candidate" ] && [ -x "$candidate" ] && echo "$candidate" && return
    done
}

# style PART VALUE: the arguments for one part of the status line. The value stands in a command line, so
# what can't be a style is left out.
style() {
    case $2 in
    '' | *[!A-Za-z0-9=,#_-]*) ;;
    *) printf ' --style %s=%s' "$1" "$2" ;;
    esac
}

# The status option $1 with the option that calls the program in place of every #{hqt_status}.
filled() {
    rest=$(tmux show-option -gqv "$1") filled=
    while :; do
        case $rest in
        *'#{hqt_status}'*)
            filled="$filled${rest%%'#{hqt_status}'*}#{E:@hqt_status}"
            rest=${rest#*'#{hqt_status}'}
            ;;
        *) break ;;
        esac
    done
    word "$filled$rest"
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

# --- what is set: one call, a line for each value. "-o" keeps what the user has set. -----------------------------

found=$(tmux set-option -gqo @hqt-binary '' \; \
    set-option -gqo @hqt-key S \; \
    set-option -gqo @hqt-resume-key R \; \
    set-option -gqo @hqt-key-table prefix \; \
    if-shell -F '#{@hqt-next-key}' '' 'set-option -g @hqt-next-unset yes' \; \
    set-option -gqo @hqt-next-key N \; \
    set-option -gqo @hqt-notify '' \; \
    set-option -gqo @hqt-popup-width 80% \; \
    set-option -gqo @hqt-popup-height 70% \; \
    set-option -gqo @hqt-status-warn '' \; \
    set-option -gqo @hqt-status-running '' \; \
    set-option -gqo @hqt-status-failed '' \; \
    set-option -gqo @hqt-status-waiting '' \; \
    set-option -gqo @hqt-notice '' \; \
    show-options -gqv @hqt-binary \; show-options -gqv @hqt-notice \; \
    show-options -gqv @hqt-key \; show-options -gqv @hqt-resume-key \; show-options -gqv @hqt-key-table \; \
    show-options -gqv @hqt-next-key \; set-option -gqo @hqt-next-unset '' \; show-options -gqv @hqt-next-unset \; \
    show-options -gqv @hqt-status-warn \; \
    show-options -gqv @hqt-status-running \; show-options -gqv @hqt-status-failed \; \
    show-options -gqv @hqt-status-waiting \; \
    show-options -g status-left \; show-options -g status-right \; show-options -g status-format \; \
    list-clients -F 'client' \; list-keys)

# --- what is to be -----------------------------------------------------------------------------------------------

binary='' told='' key='' resume_key='' table='' next_key='' next_unset='' warn='' running='' failed='' waiting='' clients=''
{
    for name in binary told key resume_key table next_key next_unset warn running failed waiting; do
        IFS= read -r "${name?}"
    done
    rest=$(cat)
} <<END
$found
END

program=$(program "$binary")
styles=$(style warn "$warn")$(style running "$running")$(style failed "$failed")$(style waiting "$waiting")
case $root in
"$HOME"/*) shown="~${root#"$HOME"}" ;;
*) shown=$root ;;
esac
notice=
if [ -z "$program" ]; then
    notice="hqt-tmux: program missing: run $shown/tmux/setup --build, then reload tmux"
    [ -z "$binary" ] || notice="hqt-tmux: program missing: @hqt-binary says $binary; correct it, then reload tmux"
fi
case $table in
'') table=prefix ;;
*[!A-Za-z0-9_-]*)
    notice="hqt-tmux: @hqt-key-table: letters, digits, - and _ make a name, and \"$table\" is none"
    key='' resume_key='' next_key=''
    ;;
esac

# taken KEY TABLE: whether somebody else has bound it.
taken() {
    while read -r line; do
        case $line in
        bind-key*@hqt-program*' next '* | bind-key*'display-message -d 8000 '*@hqt-notice*) ;;
        bind-key*" $2 "*)
            read -r bound_table bound_key _ <<END
${line#*-T }
END
            [ "$bound_table $bound_key" != "$2 $1" ] || return 0
            ;;
        esac
    done <<END
$rest
END
    return 1
}

# The one that nobody has chosen takes no other's place, and needs the prefix: "root" would take the letter away.
if [ -n "$next_unset" ] && [ "$next_key" = N ]; then
    if [ "$table" != prefix ] || taken N prefix; then next_key=''; fi
fi

# What a status line calls: in an option, so that a theme may be loaded before or after.
call=
[ -z "$program" ] ||
    call='#(#{q:@hqt-program} doctor --status#{?client_utf8,, --ascii}#{@hqt-status-arguments})'

# An index of our own. A client that attaches sets off the one, and one that comes with its new session the other.
hooks='client-attached[7381] client-session-changed[7381]'

# By these tmux tells us that a session may be doing something else: a title that tells of it has changed its kind (the
# format is the pane's, of our own words), a bell has rung that nobody heard, or somebody has come to such a window. While
# one look lasts no other begins, however it ends; what came meanwhile is looked at then.
over="set-option -gqu @hqt_looking ; if-shell -F '#{@hqt_missed}' { set-option -gqu @hqt_missed ; run-shell -C '#{@hqt_look}' }"
call_us="if-shell -b '#{q:@hqt-program} saw >/dev/null 2>&1' { $over } { $over }"
call_us="if-shell -F '#{@hqt_looking}' { set-option -g @hqt_missed yes } { set-option -g @hqt_looking yes ; $call_us }"
look="run-shell -C '#{@hqt_look}'"
kind="if-shell -F '#{!=:#{E:@hqt_signs},#{@hqt_doing}}' { set-option -pF @hqt_doing '#{E:@hqt_signs}' ; $look }"
rung="if-shell -F '#{&&:#{window_bell_flag},#{P:#{@hqt_session}}}' { set-option -w @hqt_rung yes ; $look }"
comes='session-window-changed[7382] client-session-changed[7382] client-attached[7382]'
seen="if-shell -F '#{@hqt_rung}' { set-option -wu @hqt_rung ; $look }"

# load: sets all of it, in one call of which "$@" are the words.
load() {
    set -- set-option -g @hqt-program "$(word "$program")" \; set-option -g @hqt-status-arguments "$styles" \; \
        set-option -g @hqt_status "$call"
    while IFS= read -r line; do
        case $line in
        client) clients=yes ;;
        status-*'#{hqt_status}'*)
            name=${line%% *}
            # Noted, so that doctor can tell when a theme takes it away again.
            set -- "$@" \; set-option -g "$name" "$(filled "$name")" \; set-option -g @hqt-status-asked "$name"
            ;;
        bind-key*@hqt-program*' key popup '* | bind-key*@hqt-program*' next '* | bind-key*'display-message -d 8000 '*@hqt-notice*)
            # Bound by an earlier load; no user's own binding reads so. The key is quoted for tmux already.
            read -r bound_table bound_key _ <<END
${line#*-T }
END
            set -- "$@" \; if-shell -F 1 "$(word "unbind-key -T $bound_table $bound_key")"
            ;;
        esac
    done <<END
$rest
END
    # shellcheck disable=SC2016 # expanded by tmux, and by the sh in the popup
    if [ -n "$program" ]; then
        # A popup, and after it, drawn or not, the next step. The client, its tmux session and the pane that pressed
        # the key are known to run-shell alone: nothing inside a popup tells them. In the popup an error stays until
        # Escape (-EE); a program that has gone since is told there.
        gone='[ -f "$0" ] && [ -x "$0" ] || { echo "hqt-tmux: the program has gone: $0"; echo'
        gone="$gone; echo \"hint: build or install it again, then reload tmux\"; echo \"(Escape closes this.)\""
        gone="$gone; exit 1; }; exec \"\$0\" \"\$@\""
        popup='display-popup -EE -c "#{q:client_name}" -t #{q:session_id}:#{window_id}.#{pane_id}'
        popup="$popup -w \"#{q:@hqt-popup-width}\" -h \"#{q:@hqt-popup-height}\" -d '##{pane_current_path}'"
        new="$popup" resume="$popup"
        case $version in
        3.2*) ;; # knows no titles
        *) new="$popup -T ' New session '" resume="$popup -T ' Sessions '" ;;
        esac
        popup="/bin/sh -c '$gone' \"#{q:@hqt-program}\" key popup"
        after='#{q:@hqt-program} key after'
        press='#{pid}.#{client_pid} #{q:client_name} #{pane_id}'
        [ -z "$key" ] || set -- "$@" \; \
            bind-key -N 'Start a harness (hqt-tmux)' -T "$table" -- "$(word "$key")" \
            run-shell -C "$new $popup new $press" '\;' run-shell -b "$after new $press >/dev/null 2>&1 || :"
        [ -z "$resume_key" ] || set -- "$@" \; \
            bind-key -N 'Resume a session (hqt-tmux)' -T "$table" -- "$(word "$resume_key")" \
            run-shell -C "$resume $popup resume $press" '\;' run-shell -b "$after resume $press >/dev/null 2>&1 || :"
        [ -z "$next_key" ] || set -- "$@" \; \
            bind-key -N 'Go to the session that waits (hqt-tmux)' -T "$table" -- "$(word "$next_key")" \
            run-shell -b '#{q:@hqt-program} next #{q:client_name} #{pane_id} >/dev/null 2>&1 || :'
        # An index of our own, so that the user's hooks stay.
        set -- "$@" \; set-option -g @hqt_look "$call_us" \; \
            set-hook -g 'pane-title-changed[7381]' "$kind" \; set-hook -g 'alert-bell[7381]' "$rung"
        for hook in $comes; do set -- "$@" \; set-hook -g "$hook" "$seen"; done
    else
        for name in "$key" "$resume_key" "$next_key"; do
            [ -z "$name" ] || set -- "$@" \; \
                bind-key -N 'hqt-tmux is missing' -T "$table" -- "$(word "$name")" \
                display-message -d 8000 '#{@hqt-notice}'
        done
        for hook in 'pane-title-changed[7381]' 'alert-bell[7381]' $comes; do set -- "$@" \; set-hook -gu "$hook"; done
    fi
    # Nobody has come yet who could be told.
    if [ -n "$told" ] && [ -z "$notice" ]; then
        for hook in $hooks; do set -- "$@" \; set-hook -gu "$hook"; done
    fi
    # The text stands in an option: inserted by a format, a folder name in it is not expanded.
    error=$(tmux set-option -g @hqt-notice "$(word "$notice")" \; "$@" 2>&1)
}

# What tmux says of a key that it does not know, in a table that nothing uses.
wrong_with() {
    [ -z "$1" ] || tmux bind-key -T hqt-probe -- "$(word "$1")" refresh-client 2>&1 \; unbind-key -a -T hqt-probe
}

if ! load; then
    wrong=$(wrong_with "$key") wrong_resume=$(wrong_with "$resume_key") wrong_next=$(wrong_with "$next_key")
    notice="hqt-tmux: $(printf '%s' "$error" | head -n 1)"
    # One of them must not keep the other away.
    [ -z "$wrong_next" ] || notice="hqt-tmux: @hqt-next-key: $wrong_next" next_key=''
    [ -z "$wrong_resume" ] || notice="hqt-tmux: @hqt-resume-key: $wrong_resume" resume_key=''
    [ -z "$wrong" ] || notice="hqt-tmux: @hqt-key: $wrong" key=''
    [ -z "$wrong$wrong_resume$wrong_next" ] || load
fi

# It is told once, and later by the keys; at the start of a server to the first client that comes.
if [ "$notice" != "$told" ] && [ -n "$notice" ]; then
    set -- set-option -g @hqt-notice "$(word "$notice")"
    if [ -n "$clients" ]; then
        tmux "$@" \; display-message -d 8000 '#{@hqt-notice}'
    else
        again=
        for hook in $hooks; do again="$again ; set-hook -gu '$hook'"; done
        for hook in $hooks; do set -- "$@" \; set-hook -g "$hook" "display-message -d 8000 '#{@hqt-notice}'$again"; done
        tmux "$@"
    fi
fi
exit 0 # run-shell shows any other code in the user's pane
