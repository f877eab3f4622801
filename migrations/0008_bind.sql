-- What a sandboxed session is shown besides its project, writable and read-only: canonical paths, each followed by a NUL byte
ALTER TABLE session ADD COLUMN bind BLOB NOT NULL DEFAULT x'';
ALTER TABLE session ADD COLUMN ro_bind BLOB NOT NULL DEFAULT x'';
