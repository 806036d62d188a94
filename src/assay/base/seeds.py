"""The only place where random numbers come from, each a function of a seed and a purpose.

`rng_for` gives the generator of one item; a `SeededPermutation` permutes a finite set again and again, so that draws
are random and balanced, with access to any position without computing those before it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.base.arrays import Array

SMALL_DECK = 1024
ROUNDS = 6
GOLDEN = 0x9E3779B97F4A7C15


def digest(*parts: object) -> bytes:
    """Return 16 bytes that depend on every part, its type and its place; numpy's numbers count as Python's."""
    return hashlib.blake2b(_encoded(*parts), digest_size=16).digest()


def _encoded(*parts: object) -> bytes:
    plain = [part.item() if isinstance(part, np.generic) else part for part in parts]
    texts = [f"{type(part).__name__}:{part}" for part in plain]
    return "".join(f"{len(text)}:{text}" for text in texts).encode()  # the length, since any separator may occur


def rng_for(seed: int, *purpose: object) -> np.random.Generator:
    """Return the generator for one purpose, such as (task, version, split, index).

    >>> bool(rng_for(1, "task", 1, "train", 7).random() == rng_for(1, "task", 1, "train", 7).random())
    True
    """
    key = np.frombuffer(digest(seed, *purpose), dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


class Streams:
    """The generators of many items that differ in the last part of their purpose; `rng_for`, but faster.

    >>> bool(Streams(1, "task", 1, "train")[7].random() == rng_for(1, "task", 1, "train", 7).random())
    True
    """

    def __init__(self, seed: int, *purpose: object) -> None:
        self.hash = hashlib.blake2b(_encoded(seed, *purpose), digest_size=16)

    def __getitem__(self, place: int) -> np.random.Generator:
        hashed = self.hash.copy()
        hashed.update(_encoded(place))
        return np.random.Generator(np.random.Philox(key=np.frombuffer(hashed.digest(), dtype=np.uint64)))


def fractions(words: Array) -> Array:
    """Return a number from 0 up to 1 for each 64-bit word."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def mix_words(words: Array) -> Array:
    """Scramble each 64-bit word (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Array = words ^ (words >> np.uint64(31))
    return result


class Draws:
    """Random words as a function of numbers: rows of them for many numbers at once."""

    def __init__(self, seed: int, *purpose: object) -> None:
        self.key = int.from_bytes(digest(seed, *purpose)[:8], "little")

    def words(self, numbers: Array, count: int, turn: int = 0) -> Array:
        """Return a row of 64-bit words for each number; each turn gives other words."""
        start = np.uint64((self.key + turn * 0xD1B54A32D192ED03) % 2**64)
        states = mix_words(mix_words(np.asarray(numbers).astype(np.uint64) * np.uint64(GOLDEN) + start))
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        return mix_words(states[:, None] + steps)


def numbers_below(words: Array, bounds: Array | int) -> Array:
    """Return a whole number from 0 up to a bound for each word."""
    return ((words >> np.uint64(32)) * np.asarray(bounds).astype(np.uint64) >> np.uint64(32)).astype(np.int64)


@dataclass(frozen=True)
class SeededPermutation:
    """An endless sequence over `size` items: every round has each item once, each round in a new random order.

    >>> sorted(SeededPermutation(5, 0, "doc").deal(np.arange(5)).tolist())
    [0, 1, 2, 3, 4]
    """

    size: int
    seed: int
    purpose: tuple[object, ...]
    key: int = field(init=False, repr=False)

    def __init__(self, size: int, seed: int, *purpose: object) -> None:
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "purpose", purpose)
        object.__setattr__(self, "key", Draws(seed, *purpose).key)

    def deal(self, places: Array) -> Array:
        """Return the cards at these places of the endless deal."""
        if self.size >= 2**62:
            turns, cards = [], []
            for place in places:
                turn, card = divmod(int(place), self.size)
                turns.append(turn)
                cards.append(card)
            return self._walk_big(cards, turns, inverse=False)
        rounds, places = np.divmod(np.asarray(places, dtype=np.int64), self.size)
        if self.size <= SMALL_DECK:
            return self._deal_small(rounds, places)
        keys = mix_words(rounds.astype(np.uint64) + np.uint64(self.key))
        return self._walk(places, keys, inverse=False)

    def place(self, cards: Array) -> Array:
        """Return where each card lies in the first round."""
        if self.size >= 2**62:
            return self._walk_big([int(card) for card in cards], [0] * len(cards), inverse=True)
        cards = np.asarray(cards, dtype=np.int64)
        if self.size <= SMALL_DECK:
            order = self._orders(np.zeros(1, dtype=np.int64))[0]
            places: Array = np.argsort(order)[cards]
            return places
        keys = mix_words(np.zeros(len(cards), dtype=np.uint64) + np.uint64(self.key))
        return self._walk(cards, keys, inverse=True)

    def _orders(self, rounds: Array) -> Array:
        keys = mix_words(rounds.astype(np.uint64) + np.uint64(self.key))
        cards = np.arange(1, self.size + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        return np.argsort(mix_words(keys[:, None] ^ cards[None, :]), axis=1, kind="stable")

    def _deal_small(self, rounds: Array, places: Array) -> Array:
        distinct, which = np.unique(rounds, return_inverse=True)
        return self._orders(distinct)[which.ravel(), places]

    def _walk(self, places: Array, keys: Array, inverse: bool) -> Array:
        """Permute by a Feistel network on a slightly larger domain, stepping again while outside the deck."""
        half = np.uint64(((self.size - 1).bit_length() + 1) // 2)
        cards = places.astype(np.uint64)
        todo = np.arange(len(cards))
        while len(todo):
            cards[todo] = _feistel(cards[todo], keys[todo], half, inverse)
            todo = todo[cards[todo] >= np.uint64(self.size)]
        return cards.astype(np.int64)

    def _walk_big(self, cards: Sequence[int], turns: Sequence[int], inverse: bool) -> Array:
        """Do what `_walk` does, for decks beyond 64 bits."""
        half = ((self.size - 1).bit_length() + 1) // 2
        rounds = {
            turn: tuple(_WideRound(half, self.key, turn, number) for number in range(ROUNDS)) for turn in set(turns)
        }
        walked = np.empty(len(cards), dtype=object)
        for place, (card, turn) in enumerate(zip(cards, turns, strict=True)):
            card = _feistel_big(card, rounds[turn], half, inverse)
            while card >= self.size:
                card = _feistel_big(card, rounds[turn], half, inverse)
            walked[place] = card
        return walked


class _WideRound:
    """One round of a Feistel network on numbers beyond 64 bits: a word of `half` bits as a function of another."""

    def __init__(self, half: int, *purpose: object) -> None:
        self.hash = hashlib.blake2b(_encoded(*purpose), digest_size=16)
        self.mask = (1 << half) - 1
        self.blocks = [_encoded(block) for block in range(half // 128 + 1)]

    def __call__(self, word: int) -> int:
        text, hashed = f"int:{word}", self.hash.copy()
        hashed.update(f"{len(text)}:{text}".encode())  # `_encoded(word)`, without what it asks of other types
        digests = []
        for block in self.blocks:
            last = hashed.copy()
            last.update(block)
            digests.append(last.digest())
        return int.from_bytes(b"".join(digests), "little") & self.mask


def _feistel_big(word: int, rounds: Sequence[_WideRound], half: int, inverse: bool) -> int:
    left, right = word >> half, word & ((1 << half) - 1)
    for scramble in reversed(rounds) if inverse else rounds:
        left, right = (right ^ scramble(left), left) if inverse else (right, left ^ scramble(right))
    return left << half | right


def _feistel(words: Array, keys: Array, half: np.uint64, inverse: bool) -> Array:
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = words >> half, words & mask
    numbers = range(ROUNDS)
    for number in reversed(numbers) if inverse else numbers:
        salt = np.uint64(number * 0xD1B54A32D192ED03 % 2**64)
        if inverse:
            left, right = right ^ (mix_words(left ^ keys ^ salt) & mask), left
        else:
            left, right = right, left ^ (mix_words(right ^ keys ^ salt) & mask)
    result: Array = (left << half) | right
    return result
