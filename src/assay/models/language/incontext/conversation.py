"""Conversations: replies from the cache, else from the endpoint; each is recorded in the ledger."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from assay.base import AssayError
from assay.models.language.incontext.cache import Cache, request_hash
from assay.models.language.incontext.client import Client, Reply
from assay.models.language.incontext.ledger import Ledger
from assay.models.language.incontext.messages import Message, continue_conversation, tokens_in

T = TypeVar("T")
R = TypeVar("R")


def one_line(text: str, most: int = 500) -> str:
    """Return a text that others wrote as one line that can be shown.

    >>> one_line("a\\n \\x1b[31m b")
    'a [31m b'
    """
    return "".join(character for character in " ".join(text.split()) if character.isprintable())[:most]


@dataclass(frozen=True)
class ReadFailure:
    """An answer that could not be read, however often it was asked for."""

    why: str
    answer: str


@dataclass(frozen=True)
class Conversation:
    """Conversations with one model."""

    client: Client
    cache: Cache
    ledger: Ledger
    body: Mapping[str, Any] = field(default_factory=dict)
    """What every request holds: the model's name, temperature, seed."""
    tries: int = 3
    parallel: int = 1

    def ask(self, messages: list[Message], purpose: str) -> Reply:
        """Return the model's answer, from the cache where it is there."""
        body = {**self.body, "messages": messages}
        request = request_hash(body)
        cached = self.cache.get(request)
        if cached is not None:
            self.ledger.enter(purpose, request, cached, cached=True)
            return cached
        tokens = tokens_in(messages)
        self.ledger.reserve(tokens)
        reply = self.client.ask(body, request, tokens)
        self.cache.put(request, reply)
        self.ledger.enter(purpose, request, reply, cached=False)
        return reply

    def read(
        self, messages: list[Message], purpose: str, reader: Callable[[Reply], T], complain: Callable[[str], str]
    ) -> T | ReadFailure:
        """Ask until an answer can be read, each time telling the model what was wrong; at last say that it failed."""
        failed = ReadFailure("", "")
        for _ in range(self.tries):
            reply = self.ask(messages, purpose)
            try:
                return reader(reply)
            except AssayError as error:
                failed = ReadFailure(one_line(str(error)), reply.text)
            messages = continue_conversation(messages, reply.text or "(no answer)", complain(failed.why))
        return failed

    def each(
        self, work: Callable[[T], R], items: Iterable[T], count: Callable[[int], None] = lambda more: None
    ) -> list[R]:
        """Return what `work` gives for each item, several at once where that is set; the first error ends all.

        `count` is told of each item that is done.
        """

        def counted(result: R) -> R:
            count(1)
            return result

        if self.parallel == 1:
            return [counted(work(item)) for item in items]
        with ThreadPoolExecutor(self.parallel) as pool:
            waiting = [pool.submit(work, item) for item in items]
            try:
                return [counted(future.result()) for future in waiting]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
