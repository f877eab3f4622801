CREATE TABLE session (
    id                     TEXT PRIMARY KEY NOT NULL,
    name                   TEXT NOT NULL,
    harness                TEXT NOT NULL,
    arguments              BLOB NOT NULL,    -- each argument followed by a NUL byte
    cwd                    BLOB NOT NULL,    -- canonical, as bytes
    env_names              TEXT NOT NULL,    -- JSON array; names only, never values
    conversation_id        TEXT,
    former_conversation_id TEXT,
    socket                 BLOB,             -- the tmux server of the newest run
    created_at             INTEGER NOT NULL, -- milliseconds since 1970, UTC
    last_started_at        INTEGER,
    exit_code              INTEGER,
    exit_signal            INTEGER,
    exited_at              INTEGER,
    run_open               INTEGER NOT NULL, -- 1 from the start of a run until its recorded end
    failed_unseen          INTEGER NOT NULL, -- 1 when the last run ended badly and nobody has looked
    note                   TEXT              -- what the last run said about itself
) STRICT;

CREATE INDEX session_open ON session (run_open) WHERE run_open = 1;
CREATE INDEX session_failed ON session (failed_unseen) WHERE failed_unseen = 1;
