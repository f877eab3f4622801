//! What stands below the options in the help, at most 80 columns wide.

pub(super) const OVERALL: &str = "\
Without a command: the sessions, or this help when there are none.

Examples:
  hqt-tmux new                        ask for everything, then start
  hqt-tmux new claude --sandbox --net off
  hqt-tmux resume --last              bring the last one back
  hqt-tmux man | man -l -             files, variables, exit codes";

pub(super) const NEW: &str = "\
What neither the flags nor the configuration (see `hqt-tmux man`) say is
asked, when there is a terminal.
Prints the id of the session.

Harnesses:
  claude, codex, kiro, gemini, opencode, copilot
  generic                             the words after `--` are the command

Examples:
  hqt-tmux new claude --sandbox -p \"fix the failing test\"
  hqt-tmux new codex -c ~/src/app --sandbox --fs ro
  hqt-tmux new generic -- make watch";

pub(super) const RESUME: &str = "\
Examples:
  hqt-tmux resume                     choose from a list
  hqt-tmux resume fix                 by name, or by the beginning of its id
  hqt-tmux resume --last --net off    the last one, with less network
  hqt-tmux resume --all               after a reboot
  hqt-tmux resume --here fix          in this pane
  hqt-tmux resume fix -c ~/src/new    its project was moved there
  hqt-tmux resume --no-sandbox fix    out of the sandbox: the words of its
                                      conversation go along, its freedom not";

pub(super) const LIST: &str = "\
Examples:
  hqt-tmux list --running
  hqt-tmux list --json | jq -r '.[] | select(.state == \"dead\").id'";

pub(super) const SHOW: &str = "\
Examples:
  hqt-tmux show fix
  hqt-tmux show --json fix | jq .conversation_id";

pub(super) const STOP: &str = "\
Examples:
  hqt-tmux stop fix api
  hqt-tmux stop --all
  hqt-tmux stop -- -odd-name          a name that begins with a dash";

pub(super) const RENAME: &str = "\
Example:
  hqt-tmux rename 3f2a 'login page'";

pub(super) const DELETE: &str = "\
It asks before the conversation of a sandboxed session is lost.

Examples:
  hqt-tmux delete fix api
  hqt-tmux delete --stopped --older 30d
  hqt-tmux delete --force fix         even while it is running";

pub(super) const DOCTOR: &str = "\
Ends with 1 when no session can be started.

Example:
  hqt-tmux doctor";

pub(super) const COMPLETIONS: &str = "\
Examples:
  source <(hqt-tmux completions bash)     in ~/.bashrc
  source <(hqt-tmux completions zsh)      in ~/.zshrc, after compinit
  hqt-tmux completions fish | source      in ~/.config/fish/config.fish";

pub(super) const MAN: &str = "\
Example:
  hqt-tmux man | man -l -";
