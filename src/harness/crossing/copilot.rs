//! Copilot's conversations: one line of JSON an event. Facts seen on 1.0.102.

use crate::harness::crossing::Shape::{
    Both, Conversation as Id, Data, Fields, Flag, Is, List, Number, Text,
};
use crate::harness::crossing::{Crossing, Field, Links, Shape};

/// What was said and which tools ran; other events hold what it may do without being asked.
pub(in crate::harness) const CROSSING: Crossing = Crossing {
    head: Some(&Both(
        &LINE,
        &Fields(
            &[
                ("type", Is(&["session.start"])),
                (
                    "data",
                    Fields(
                        &[("sessionId", Id), ("version", Number), ("startTime", Text)],
                        &[("producer", Is(&["copilot-agent"])), ("copilotVersion", Text)],
                    ),
                ),
            ],
            &[],
        ),
    )),
    lines: &[
        Both(
            &LINE,
            &Fields(
                &[("type", Is(&["user.message"])), ("data", Fields(&[("content", Text)], TURN))],
                &[],
            ),
        ),
        Both(
            &LINE,
            &Fields(
                &[
                    ("type", Is(&["assistant.message"])),
                    ("data", Both(&MESSAGE, &Fields(&[], TURN))),
                ],
                &[],
            ),
        ),
        Both(
            &LINE,
            &Fields(
                &[
                    ("type", Is(&["assistant.turn_start", "assistant.turn_end"])),
                    ("data", Fields(&[("turnId", Text)], TURN)),
                ],
                &[],
            ),
        ),
        Both(
            &LINE,
            &Fields(
                &[
                    ("type", Is(&["tool.execution_start"])),
                    (
                        "data",
                        Fields(
                            &[("toolCallId", Text), ("toolName", Text), ("arguments", Data)],
                            TURN,
                        ),
                    ),
                ],
                &[],
            ),
        ),
        Both(
            &LINE,
            &Fields(
                &[
                    ("type", Is(&["tool.execution_complete"])),
                    (
                        "data",
                        Both(
                            &Fields(&[("toolCallId", Text), ("success", Flag)], TURN),
                            &Fields(&[], &[("result", RESULT)]),
                        ),
                    ),
                ],
                &[],
            ),
        ),
    ],
    links: Some(Links { own: "id", parent: "parentId" }),
    count: None,
    place: "session-state/{id}/events.jsonl",
    defaults: &[],
};

const LINE: Shape = Fields(&[("timestamp", Text)], &[]);

const TURN: &[Field] = &[("messageId", Text), ("interactionId", Text), ("turnId", Text)];

const MESSAGE: Shape = Fields(
    &[("content", Text)],
    &[
        ("model", Text),
        (
            "toolRequests",
            List(&Fields(
                &[("toolCallId", Text), ("name", Text), ("arguments", Data)],
                &[("type", Is(&["function"]))],
            )),
        ),
    ],
);

const RESULT: Shape = Fields(&[("content", Text)], &[]);
