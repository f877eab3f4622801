-- Folders in which sandboxed sessions write or ever wrote, deleted sessions among them: what lies there decides nothing.
CREATE TABLE workplace (folder BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID; -- canonical, as bytes
INSERT OR IGNORE INTO workplace SELECT cwd FROM session WHERE sandbox_json IS NOT NULL;
