//! Codex's conversations: a head, then one line of JSON an item or event. Facts seen on 0.171.0.

use crate::harness::crossing::Shape::{
    Begins, Both, Conversation as Id, Cwd, Either, Fields, Is, List, Number, Text,
};
use crate::harness::crossing::{Crossing, Shape};

/// Its head names the conversation and its folder; of the rest, what was said and done. Other lines
/// hold who is asked before a command runs and what it may reach, for the next turn.
pub(in crate::harness) const CROSSING: Crossing = Crossing {
    head: Some(&Both(
        &LINE,
        &Fields(
            &[
                ("type", Is(&["session_meta"])),
                (
                    "payload",
                    Fields(
                        &[("id", Id), ("session_id", Id), ("cwd", Cwd), ("timestamp", Text)],
                        &[
                            ("originator", Text),
                            ("cli_version", Text),
                            ("source", Is(&["cli"])),
                            ("thread_source", Is(&["user"])),
                            // One of the user's own configuration, or none.
                            ("model_provider", Text),
                            ("history_mode", Text),
                            ("context_window", Fields(&[("window_id", Text)], &[])),
                        ],
                    ),
                ),
            ],
            &[],
        ),
    )),
    lines: &[
        Both(&LINE, &Fields(&[("type", Is(&["response_item"])), ("payload", Either(ITEMS))], &[])),
        Both(&LINE, &Fields(&[("type", Is(&["event_msg"])), ("payload", Either(EVENTS))], &[])),
        Both(&LINE, &Fields(&[("type", Is(&["compacted"])), ("payload", COMPACTED)], &[])),
    ],
    links: None,
    count: Some("ordinal"),
    place: "sessions/{date}/rollout-{time}-{id}.jsonl",
    // As settings, since each flag for the same may stand once, and may be among the user's arguments.
    defaults: &["-c", "approval_policy=\"on-request\"", "-c", "sandbox_mode=\"workspace-write\""],
};

const LINE: Shape = Fields(&[("timestamp", Text)], &[]);

/// What the model was told and answered; never what its developers told it, which is how free it is.
const ITEMS: &[Shape] = &[
    Fields(
        &[
            ("type", Is(&["message"])),
            ("role", Is(&["user", "assistant"])),
            ("content", List(&Either(CONTENT))),
        ],
        &[("id", Text), ("status", Text), ("phase", Text)],
    ),
    Fields(
        &[
            ("type", Is(&["reasoning"])),
            ("summary", List(&Fields(&[("type", Is(&["summary_text"])), ("text", Text)], &[]))),
        ],
        &[("id", Text), ("encrypted_content", Text)],
    ),
    Fields(
        &[("type", Is(&["function_call"])), ("call_id", Text), ("name", Text), ("arguments", Text)],
        &[("id", Text), ("status", Text)],
    ),
    Fields(
        &[("type", Is(&["custom_tool_call"])), ("call_id", Text), ("name", Text), ("input", Text)],
        &[("id", Text), ("status", Text)],
    ),
    Fields(
        &[
            ("type", Is(&["function_call_output", "custom_tool_call_output"])),
            ("call_id", Text),
            ("output", Either(&[Text, List(&Either(CONTENT))])),
        ],
        &[("id", Text)],
    ),
];

const CONTENT: &[Shape] = &[
    Fields(&[("type", Is(&["input_text", "output_text"])), ("text", Text)], &[]),
    // A picture itself: an address would be fetched, a path be read.
    Fields(&[("type", Is(&["input_image"])), ("image_url", Begins("data:image/"))], &[]),
];

/// What is drawn when the conversation is resumed.
const EVENTS: &[Shape] = &[
    Fields(
        &[("type", Is(&["item_completed"])), ("turn_id", Text), ("item", Either(DRAWN))],
        &[("thread_id", Id), ("started_at_ms", Number), ("completed_at_ms", Number)],
    ),
    Fields(
        &[("type", Is(&["task_started", "task_complete", "turn_aborted"]))],
        &[
            ("turn_id", Text),
            ("root_turn_id", Text),
            ("started_at", Number),
            ("completed_at", Number),
            ("duration_ms", Number),
            ("model_context_window", Number),
            ("last_agent_message", Text),
            ("reason", Text),
        ],
    ),
    Fields(&[("type", Is(&["user_message", "agent_message"])), ("message", Text)], &[]),
    Fields(&[("type", Is(&["thread_rolled_back"])), ("num_turns", Number)], &[]),
];

const DRAWN: &[Shape] = &[
    Fields(
        &[
            ("type", Is(&["UserMessage", "AgentMessage"])),
            ("id", Text),
            ("content", List(&Fields(&[("type", Is(&["text", "Text"])), ("text", Text)], &[]))),
        ],
        &[],
    ),
    Fields(
        &[
            ("type", Is(&["CommandExecution"])),
            ("id", Text),
            ("command", List(&Text)),
            ("cwd", Text),
            ("status", Text),
        ],
        &[
            ("process_id", Text),
            ("parsed_cmd", List(&Fields(&[("type", Text), ("cmd", Text)], &[]))),
            ("source", Text),
            ("aggregated_output", Text),
            ("exit_code", Number),
            ("duration", Fields(&[("secs", Number), ("nanos", Number)], &[])),
        ],
    ),
];

/// The summary that stands for what was said before it.
const COMPACTED: Shape =
    Fields(&[("message", Text)], &[("replacement_history", List(&Either(ITEMS)))]);
