//! Claude Code's conversations: one line of JSON a message. Facts seen on 2.1.332.

use crate::harness::crossing::Shape::{
    Both, Conversation, Cwd, Data, Either, False, Fields, Flag, Is, List, Number, Text,
};
use crate::harness::crossing::{Crossing, Links, Shape};

/// Messages and nothing else: other lines name a mode of permissions, another folder, or files that
/// `/rewind` puts back.
pub(in crate::harness) const CROSSING: Crossing = Crossing {
    head: None,
    lines: &[
        Both(&LINE, &Fields(&[("type", Is(&["user"])), ("message", USER)], &[])),
        Both(&LINE, &Fields(&[("type", Is(&["assistant"])), ("message", ASSISTANT)], &[])),
    ],
    links: Some(Links { own: "uuid", parent: "parentUuid" }),
    count: None,
    place: "projects/{slug}/{id}.jsonl",
    defaults: &["--permission-mode", "manual"],
};

/// A line of the conversation itself, not of a subagent's.
const LINE: Shape = Fields(
    &[("isSidechain", False), ("sessionId", Conversation), ("cwd", Cwd)],
    &[
        ("timestamp", Text),
        ("version", Text),
        ("userType", Is(&["external"])),
        ("isCompactSummary", Flag),
    ],
);

const USER: Shape = Fields(
    &[("role", Is(&["user"])), ("content", Either(&[Text, List(&Either(SAID_BY_USERS))]))],
    &[],
);

const SAID_BY_USERS: &[Shape] = &[
    TEXT,
    PICTURE,
    Fields(
        &[("type", Is(&["tool_result"])), ("tool_use_id", Text)],
        &[("content", Either(&[Text, List(&Either(&[TEXT, PICTURE]))])), ("is_error", Flag)],
    ),
];

const TEXT: Shape = Fields(&[("type", Is(&["text"])), ("text", Text)], &[]);

const PICTURE: Shape = Fields(
    &[
        ("type", Is(&["image", "document"])),
        ("source", Fields(&[("type", Is(&["base64"])), ("media_type", Text), ("data", Text)], &[])),
    ],
    &[],
);

const ASSISTANT: Shape = Fields(
    &[
        ("type", Is(&["message"])),
        ("role", Is(&["assistant"])),
        ("content", List(&Either(SAID_BY_THE_MODEL))),
    ],
    &[
        ("id", Text),
        ("model", Text),
        ("stop_reason", Text),
        (
            "usage",
            Fields(
                &[("input_tokens", Number), ("output_tokens", Number)],
                &[("cache_creation_input_tokens", Number), ("cache_read_input_tokens", Number)],
            ),
        ),
    ],
);

const SAID_BY_THE_MODEL: &[Shape] = &[
    TEXT,
    Fields(&[("type", Is(&["thinking"])), ("thinking", Text), ("signature", Text)], &[]),
    Fields(&[("type", Is(&["redacted_thinking"])), ("data", Text)], &[]),
    Fields(&[("type", Is(&["tool_use"])), ("id", Text), ("name", Text), ("input", Data)], &[]),
];
