ALTER TABLE session ADD COLUMN sandbox_json TEXT; -- NULL: unsandboxed; else {"fs":"rw"|"ro","net":true|false}
