ALTER TABLE session ADD COLUMN activity TEXT; -- what its run was last seen doing: working, idle or waiting
ALTER TABLE session ADD COLUMN activity_since INTEGER; -- since when, in milliseconds since 1970
