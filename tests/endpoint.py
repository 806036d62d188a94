"""A small endpoint of the chat protocol on loopback: it answers what a test scripts, and counts what it was asked."""

import base64
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answerer = Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Fault:
    """Something else than an answer: a status with headers, a raw body, a wait, or a dropped connection."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    wait: float = 0.0
    drop: bool = False
    cut: bool = False
    """Whether the connection is dropped in the middle of the body."""


class Endpoint:
    """The server: `script` is what it does with the next requests, in turn; then it answers."""

    def __init__(self, answerer: Answerer, key: str = "") -> None:
        self.answerer = answerer
        self.key = key
        self.script: deque[Fault | str] = deque()
        self.asked: list[dict[str, Any]] = []
        self.answered = 0
        self.headers: list[dict[str, str]] = []
        self.hold_after: int | None = None
        """After so many answers the next one is held back until `held` is seen and `go` is set."""
        self.held, self.go = threading.Event(), threading.Event()
        self.usage = True
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self.go.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.take(self, body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler

    def take(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Do with a request what the script says."""
        with self._lock:
            self.asked.append(body)
            self.headers.append(dict(handler.headers.items()))
            step = self.script.popleft() if self.script else None
            hold = self.hold_after is not None and self.answered >= self.hold_after
        if handler.path != "/v1/chat/completions":
            send(handler, Fault(404, body='{"error": {"message": "no such path"}}'))
        elif self.key and handler.headers.get("Authorization") != f"Bearer {self.key}":
            told = handler.headers.get("Authorization", "").removeprefix("Bearer ")
            send(handler, Fault(401, body=json.dumps({"error": {"message": f"Incorrect API key provided: {told}"}})))
        elif isinstance(step, Fault):
            send(handler, step)
        else:
            if hold:
                self.held.set()
                self.go.wait(60)
            send(handler, Fault(body=self._completion(body, step if step is not None else self.answerer(body))))
            with self._lock:
                self.answered += 1

    def _completion(self, body: dict[str, Any], text: str) -> str:
        usage = {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}} if self.usage else {}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json.dumps({"object": "chat.completion", "model": body["model"], "choices": [choice], **usage})


def send(handler: BaseHTTPRequestHandler, fault: Fault) -> None:
    """Send what is to be sent; a client that has gone away is no matter."""
    time.sleep(fault.wait)
    handler.close_connection = True
    try:
        if fault.drop:
            return
        data = fault.body.encode()
        handler.send_response(fault.status)
        for name, value in {**fault.headers, "Content-Length": str(len(data))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2] if fault.cut else data)
    except OSError:
        pass


def texts(body: dict[str, Any]) -> str:
    """Return all that a request says in words, but for the system's."""
    said = []
    for message in body["messages"][1:]:
        content = message["content"]
        said += [content] if isinstance(content, str) else [p["text"] for p in content if p["type"] == "text"]
    return "\n".join(said)


def pictures(body: dict[str, Any]) -> list[bytes]:
    """Return the pictures of a request."""
    contents = [message["content"] for message in body["messages"] if not isinstance(message["content"], str)]
    urls = [part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def rule(words: str, formula: str, form: str = "formula") -> str:
    """Return an answer in the form that is asked for."""
    return f"Let me see.\nRULE: {words}\n```{form}\n{formula}\n```\n"


def first_concept(body: dict[str, Any]) -> str:
    """Answer with a rule over the first concept that the prompt names: of the right kind, whatever the task."""
    said = texts(body)
    name, values = re.findall(r"^- `([\w.]+)`: (.+)$", said, re.MULTILINE)[0]
    value = {"true or false": "True"}.get(values, values.split(", ")[-1].split(" ")[-1])
    return rule("the first concept decides", f"{name} == {value}" if "gives true or false" in said else name)
