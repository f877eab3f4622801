ALTER TABLE session ADD COLUMN report_json TEXT; -- JSON array of paths that the host may run, changed in the last run
