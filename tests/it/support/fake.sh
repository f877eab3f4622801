#!/bin/sh
# A stand-in for a coding agent. It records how it was started and what it can see, then obeys
# the lines typed into its pane. It needs nothing beside itself, so one file can be bound into a
# sandbox.
name=${0##*/}
case $#:${1-} in
1:--version)
    echo "$name 1.0.0 (stand-in)"
    exit 0
    ;;
1:--help)
    echo "usage: $name [ARG]..."
    exit 0
    ;;
esac

conversation= mode=plain previous=
for word in "$@"; do
    case $previous in
    --session-id) conversation=$word mode=assigned ;;
    --resume | --resume-id | resume) conversation=$word mode=resumed ;;
    esac
    previous=$word
done

case $name in
codex)
    sessions=${CODEX_HOME:-$HOME/.codex}/sessions
    store=$sessions/2026/01/02
    own=$conversation
    # It chooses its ids itself. Its own files it reads compressed as well; here those are no less plain.
    [ -n "$own" ] || own=$(cat /proc/sys/kernel/random/uuid)
    transcript=$(find -H "$sessions" -name "rollout-*$own.jsonl*" 2>/dev/null | head -n 1)
    [ -n "$transcript" ] || transcript=$store/rollout-2026-01-02T03-04-05-$own.jsonl
    ;;
gemini)
    store=$HOME/.gemini/tmp/project/chats
    transcript=$store/session-2026-01-02T03-04-${conversation%%-*}.jsonl
    ;;
copilot)
    store=$HOME/.copilot/session-state/$conversation
    transcript=$store/events.jsonl
    [ ! -e "$transcript" ] || mode=resumed
    ;;
*)
    slug=$(pwd -P | tr -d '\n' | tr -c 'A-Za-z0-9' '-')
    store=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/$slug
    transcript=$store/$conversation.jsonl
    ;;
esac

# The first of the folders that takes a file keeps the record of this run.
record=
for folder in "$PWD" "$store" "${CODEX_HOME:-$HOME/.codex}" "$HOME/.kiro/sessions"; do
    made=$folder/hqt-fake/run.$(date +%s%N).$$
    if mkdir -p "$made" 2>/dev/null; then
        record=$made
        break
    fi
done
if [ -n "$record" ]; then
    printf '%s\0' "$name" "$@" >"$record/argv"
    pwd -P >"$record/cwd"
    env -0 >"$record/env"
    ls -l "/proc/$$/fd" >"$record/descriptors"
    find "$HOME" -mindepth 1 >"$record/home" 2>/dev/null
    for folder in "$HOME" "$PWD"; do
        if (: >"$folder/hqt-probe") 2>/dev/null; then
            rm -f "$folder/hqt-probe"
            echo "ALLOWED $folder"
        else
            echo "BLOCKED $folder"
        fi
    done >"$record/writes"
    : >"$record/ready"
fi

case $mode in
resumed)
    if ! grep -q '"type":"user"\|"role":"user"' "$transcript" 2>/dev/null; then
        echo "No conversation found with session ID: $conversation"
        exit 1
    fi
    ;;
assigned)
    if [ -e "$transcript" ]; then
        echo "Error: Session ID $conversation is already in use."
        exit 1
    fi
    ;;
esac

# What a real one keeps of a message, and of how free it is.
keep() {
    case $name in
    codex)
        [ -s "$transcript" ] ||
            printf '{"timestamp":"t","type":"session_meta","payload":{"id":"%s","session_id":"%s","timestamp":"t","cwd":"%s"}}\n' "$own" "$own" "$PWD"
        printf '{"timestamp":"t","type":"turn_context","payload":{"approval_policy":"never"}}\n'
        printf '{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}\n' "$1"
        ;;
    *)
        printf '{"type":"permission-mode","permissionMode":"bypassPermissions"}\n'
        printf '{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"%s"},"uuid":"%s","permissionMode":"bypassPermissions","sessionId":"%s","cwd":"%s"}\n' "$1" "$(cat /proc/sys/kernel/random/uuid)" "$conversation" "$PWD"
        ;;
    esac
}

obey() {
    verb=${1%% *}
    rest=${1#"$verb"}
    rest=${rest# }
    case $verb in
    exit) exit "$rest" ;;
    die) kill -s "$rest" $$ ;;
    say)
        mkdir -p "$store"
        keep "$rest" >>"$transcript" && echo 'SAID'
        ;;
    fork)
        setsid sleep 600 </dev/null >/dev/null 2>&1 &
        echo "FORKED $!"
        ;;
    ignore)
        # Unquoted: several signal names.
        trap '' $rest
        ignoring=1
        echo 'IGNORING'
        ;;
    save-on-hup)
        trap 'sleep 1; echo saved >"$record/saved"; exit 0' HUP
        ignoring=1
        echo 'WILL SAVE'
        ;;
    title) printf '\033]2;%s\007' "$rest" ;;
    ring) printf '\007' ;;
    try)
        tag=${rest%% *}
        output=$(sh -c "${rest#"$tag"}" 2>&1) && verdict=ALLOWED || verdict=BLOCKED
        printf '<%s\n%s\n>%s %s\n' "$tag" "$output" "$tag" "$verdict"
        ;;
    esac
}

ignoring=
if [ -r fake.rc ]; then
    while IFS= read -r line; do obey "$line"; done <fake.rc
fi
echo "FAKE-READY $name $mode $conversation"
while IFS= read -r line; do obey "$line"; done
# The terminal is gone. One that ignores the hang-up, or waits for it, stays all the same.
while [ -n "$ignoring" ]; do sleep 0.1; done
