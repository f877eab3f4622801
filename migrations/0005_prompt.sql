ALTER TABLE session ADD COLUMN prompt TEXT; -- the first message, which is sent once, by the first start
