#!/usr/bin/env python3
"""A model of the tests' own on loopback, so that real harnesses hold conversations without a login.

usage: model_stub.py FOLDER

It renews tokens of OpenAI's, and answers Anthropic's messages (claude), OpenAI's responses (codex) and Google's contents (gemini), as streams. In
FOLDER stand
  port          where it listens, written once it does
  questions     every question that it was asked, one JSON object a line
  NAME.command  given by the test: a question with `RUNBASH NAME` makes the harness run this shell command; where NAME
                begins with `ask`, codex is told that it needs more than its own sandbox allows
  NAME.said     what the harness told that the command said
  wellknown     given by the test: what opencode is told as the configuration of a server
A question with `ASKUSER` makes claude ask its user something.
Every other question is answered with `STUB-REPLY`. It ends when its standard input does.
"""

import base64
import json
import os
import re
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
REPLY = "STUB-REPLY well said"
LOCK = threading.Lock()
USAGE = {"input_tokens": 1, "output_tokens": 1}


def new_id():
    """One that no other message has: claude takes two with the same for one."""
    return "id_" + uuid.uuid4().hex


def write(name, text):
    """Whole or not at all, since the test polls for it."""
    with open(f"{FOLDER}/{name}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(f"{FOLDER}/{name}.new", f"{FOLDER}/{name}")


def record(path, question):
    with LOCK, open(f"{FOLDER}/questions", "a", encoding="utf-8") as file:
        file.write(json.dumps({"path": path, "question": question}) + "\n")


def wanted(text):
    """The command that `text` asks for: its name and itself."""
    names = re.findall(r"RUNBASH (\w+)", text)
    if not names:
        return None
    with open(f"{FOLDER}/{names[-1]}.command", encoding="utf-8") as file:
        return names[-1], file.read()


def anthropic(question):
    """The answer to a question for Anthropic's API: its events, or all of it where no stream is asked for."""
    new = []
    for message in reversed(question.get("messages", [])):
        if message["role"] == "assistant":
            break
        content = message["content"]
        new += [{"type": "text", "text": content}] if isinstance(content, str) else content
    results = [block for block in new if block["type"] == "tool_result"]
    for block in results:
        write(block["tool_use_id"] + ".said", str(block.get("content", "")))
    shell = next((tool["name"] for tool in question.get("tools", []) if tool.get("name") in ("Bash", "bash")), None)
    text = " ".join(block["text"] for block in new if block["type"] == "text")
    call = wanted(text) if shell and not results else None
    block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": REPLY}
    if call:
        block = {"type": "tool_use", "id": call[0], "name": shell, "input": {}}
        words = json.dumps({"command": call[1], "description": "an act"})
        delta = {"type": "input_json_delta", "partial_json": words}
    if "ASKUSER" in text and not results and shell:
        call = True
        block = {"type": "tool_use", "id": new_id(), "name": "AskUserQuestion", "input": {}}
        options = [{"label": label, "description": label} for label in ("one", "two")]
        words = json.dumps({"questions": [{"question": "Which one is it?", "header": "Choice", "options": options,
                                           "multiSelect": False}]})
        delta = {"type": "input_json_delta", "partial_json": words}
    message = {"id": new_id(), "type": "message", "role": "assistant", "model": question.get("model", "stub"),
               "content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    if not question.get("stream"):
        return dict(message, content=[{"type": "text", "text": REPLY}], stop_reason="end_turn")
    end = {"stop_reason": "tool_use" if call else "end_turn"}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": USAGE},
        {"type": "message_stop"},
    ]


def openai(question):
    """The events of the answer to a question for OpenAI's responses."""
    new = []
    for item in reversed(question.get("input", [])):
        if item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning"):
            break
        new.append(item)
    results = [item for item in new if item.get("type") == "function_call_output"]
    for item in results:
        write(item["call_id"] + ".said", str(item.get("output", "")))
    has_shell = "exec_command" in [tool.get("name") for tool in question.get("tools", [])]
    users = json.dumps([item for item in reversed(new) if item.get("role") == "user"])
    call = wanted(users) if has_shell and not results else None
    item = {"type": "message", "id": new_id(), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": REPLY, "annotations": []}]}
    if call:
        escalated = {"sandbox_permissions": "require_escalated", "justification": "the test wants it"}
        escalated = escalated if call[0].startswith("ask") else {}
        item = {"type": "function_call", "id": new_id(), "call_id": call[0], "name": "exec_command",
                "arguments": json.dumps({"cmd": call[1]} | escalated), "status": "completed"}
    response = {"id": new_id(), "object": "response", "status": "in_progress", "output": []}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response | {
            "status": "completed", "output": [item], "usage": USAGE | {"total_tokens": 2}}},
    ]


def google(question):
    """The answer to a question for Google's API, which is whole in one event."""
    new = []
    for content in reversed(question.get("contents", [])):
        if content.get("role") == "model":
            break
        new += content.get("parts", [])
    results = [part["functionResponse"] for part in new if "functionResponse" in part]
    for result in results:
        write(result["id"] + ".said", str(result.get("response", "")))
    tools = [tool for group in question.get("tools", []) for tool in group.get("functionDeclarations", [])]
    has_shell = "run_shell_command" in [tool.get("name") for tool in tools]
    call = wanted(" ".join(part.get("text", "") for part in new)) if has_shell and not results else None
    part = {"text": REPLY}
    if call:
        part = {"functionCall": {"id": call[0], "name": "run_shell_command", "args": {"command": call[1]}}}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}


def token(kind):
    """One that names the account `one` and ends in the year 2286."""
    said = {"sub": "one", "exp": 9999999999, "kind": kind,
            "https://api.openai.com/auth": {"chatgpt_account_id": "a", "chatgpt_plan_type": "pro"}}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, said)]
    return ".".join(parts + ["c2ln"])


class Handler(BaseHTTPRequestHandler):
    log_message = lambda *_: None
    def send(self, kind, text):
        self.send_response(200)
        for header in [("Content-Type", kind), ("Content-Length", str(len(text)))]:
            self.send_header(*header)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode())

    def do_GET(self):
        answer = {"object": "list", "data": [], "models": []}
        if self.path == "/.well-known/opencode":
            with open(f"{FOLDER}/wellknown", encoding="utf-8") as file:
                answer = json.load(file)
        if self.path.split("?")[0].endswith("/accounts/check"):
            account = {"id": "a", "plan_type": "pro", "structure": "personal", "is_deactivated": False,
                       "workspace_backend_origin": "https://backend.invalid",
                       "account_routing_override": "NO_CONSTRAINT"}
            answer = {"accounts": [account], "account_ordering": ["a"], "default_account_id": "a"}
        self.send("application/json", json.dumps(answer))

    do_HEAD = do_GET

    def do_POST(self):
        path = self.path.split("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = {"input_tokens": 1}
        if path.endswith("/messages") or path.endswith("/responses"):
            record(path, json.loads(body))
            answer = (anthropic if path.endswith("/messages") else openai)(json.loads(body))
        if path.endswith("/oauth/token"):
            record(path, body.decode())
            answer = {"id_token": token("id"), "access_token": token("access"), "refresh_token": "renewed"}
        if "enerateContent" in path:
            record(path, json.loads(body))
            answer = google(json.loads(body))
        if path.endswith("streamGenerateContent"):
            self.send("text/event-stream", f"data: {json.dumps(answer)}\n\n")
        elif isinstance(answer, dict):
            self.send("application/json", json.dumps(answer))
        else:
            events = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in answer]
            self.send("text/event-stream", "".join(events))


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
write("port", str(server.server_port))
sys.stdin.read()
