"""The endpoint: an address and a key from the environment, and the checks of them."""

import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from assay.base import AssayError, ConfigError

URLS = {"ASSAY_LLM_URL": ("ASSAY_LLM_KEY",), "OPENAI_BASE_URL": ("ASSAY_LLM_KEY", "OPENAI_API_KEY")}
"""Names of the address in the environment, the first that is set counts; and of the key that may be sent there."""
PATH = "/chat/completions"
SHORTEST_KEY = 8
"""A shorter key is a stand-in, such as `none`: it may occur in any text."""


class EndpointError(AssayError):
    """An endpoint that cannot be reached, refuses, or does not answer as agreed."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint. Neither its address nor its key is ever shown or written."""

    url: str = field(repr=False)
    key: str = field(default="", repr=False)
    name: str = "ASSAY_LLM_URL"
    """The name in the environment that gave the address."""
    key_name: str = "ASSAY_LLM_KEY"

    @classmethod
    def from_environment(cls) -> "Endpoint":
        """Return the endpoint that the environment names."""
        for name, key_names in URLS.items():
            url = os.environ.get(name, "").strip()
            if url:
                set_names = [key_name for key_name in key_names if os.environ.get(key_name, "").strip()]
                key_name = set_names[0] if set_names else key_names[-1]
                return cls(_checked_url(url, name), _checked_key(key_name), name, key_name)
        raise ConfigError(
            "no endpoint to ask: set ASSAY_LLM_URL to the base of an OpenAI-compatible one, such as "
            "http://localhost:8080/v1, and ASSAY_LLM_KEY to its key if it needs one"
        )

    @property
    def local(self) -> bool:
        """Whether it is on this machine: all that is recorded about its address."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def without_key(self, text: str) -> str:
        """Return a text in which the key does not occur."""
        return text.replace(self.key, "[key]") if len(self.key) >= SHORTEST_KEY else text


def _checked_url(url: str, name: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or re.search(r"[\x00-\x20\x7f-\uffff]", url):
        raise ConfigError(f"{name} is no address: it must look like https://HOST/v1 or http://localhost:8080/v1")
    if parts.query or parts.fragment or parts.username is not None:
        raise ConfigError(
            f"{name} must be a plain base address, without user, '?' or '#'; a key goes into ASSAY_LLM_KEY"
        )
    return url.rstrip("/").removesuffix(PATH)


def _checked_key(name: str) -> str:
    key = os.environ.get(name, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise ConfigError(f"{name} holds a space or another character that no key has")
    return key
