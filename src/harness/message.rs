//! A line of a transcript as a person reads it.

use serde_json::Value;

/// What was said in a line of a transcript, and whether by the user: claude's lines have a `message` (2.1.332), codex's a
/// `payload` (0.171.0). `None` for all other lines, such as a call or its result.
pub(crate) fn said_in(line: &str) -> Option<(bool, String)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let message = line.get("message").or_else(|| line.get("payload"))?;
    let by_user = match message.get("role")?.as_str()? {
        "user" => true,
        "assistant" => false,
        _ => return None,
    };
    let content = message.get("content")?;
    let text = match content.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let parts = content.as_array()?.iter();
            let texts: Vec<&str> = parts.filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join(" ")
        }
    };
    Some((by_user, text)).filter(|(_, text)| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_calls() {
        let said = |line: &str| said_in(line).map(|(_, text)| text);
        for (line, words) in [
            (r#"{"type":"user","message":{"role":"user","content":"do it"}}"#, Some("do it")),
            (
                r#"{"message":{"role":"assistant","content":[{"type":"text","text":"Shall I?"}]}}"#,
                Some("Shall I?"),
            ),
            (
                r#"{"payload":{"type":"message","role":"assistant","content":[{"text":"Done."}]}}"#,
                Some("Done."),
            ),
            (r#"{"message":{"role":"assistant","content":[{"type":"tool_use"}]}}"#, None),
            (r#"{"payload":{"type":"message","role":"developer","content":[{"text":"x"}]}}"#, None),
            (r#"{"message":{"role":"user","content":" "}}"#, None),
            (r#"{"payload":{"type":"function_call"}}"#, None),
            (r#"[{"message":7}]"#, None),
            ("cut in the mid", None),
        ] {
            assert_eq!(said(line).as_deref(), words, "{line}");
        }
    }
}
