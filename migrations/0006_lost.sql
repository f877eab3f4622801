ALTER TABLE session ADD COLUMN tmux_session TEXT; -- the name of the tmux session in which its newest run began
ALTER TABLE session ADD COLUMN lost INTEGER NOT NULL DEFAULT 0; -- 1 when its newest run ended since the tmux server went
