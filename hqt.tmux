#!/bin/sh
# TPM runs executable *.tmux files in the top folder of a plugin only.
exec "$(dirname -- "$0")/tmux/hqt.tmux"
