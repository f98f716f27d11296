"""Secrets: what must never reach a run folder, a log or a message, and how it is taken out.

Keys come from environment variables that the config names; user names and passwords may stand in a server's URL.
Both are known before the first call, so every line that is written passes through `Scrubber.clean`.
"""

from __future__ import annotations

import json
import os
import re

from relaybench.config import OpenAIConfig, RunConfig

HIDDEN = "***"
SHORTEST = 8
"""Shorter values ("EMPTY", "none") are placeholders, and would be found inside ordinary words."""

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s\"']+(?=@)")


class Scrubber:
    """Replaces the given secrets, and credentials in URLs, by `***`."""

    def __init__(self, secrets: set[str]) -> None:
        known = sorted((s for s in secrets if len(s) >= SHORTEST and not s.isdigit()), key=len, reverse=True)
        forms = [form for secret in known for form in dict.fromkeys((secret, json.dumps(secret)[1:-1]))]
        self._forms = [form.encode() for form in forms]

    @classmethod
    def of(cls, config: RunConfig) -> Scrubber:
        """The secrets a run can come across."""
        found: set[str] = set()
        for engine in config.engines:
            if isinstance(engine, OpenAIConfig):
                found.add(os.environ.get(engine.api_key_env, ""))
                urls = [engine.base_url] if isinstance(engine.base_url, str) else engine.base_url
                for url in urls:
                    for credentials in _CREDENTIALS.findall(url):
                        found |= {credentials, *credentials.split(":", 1)}
        return cls(found)

    def clean(self, data: bytes) -> bytes:
        """`data` (UTF-8 text or JSON) without the known secrets."""
        for form in self._forms:
            if form in data:
                data = data.replace(form, HIDDEN.encode())
        return data

    def text(self, text: str) -> str:
        """The same for text meant for people; credentials in any URL go too."""
        return _CREDENTIALS.sub(HIDDEN, self.clean(text.encode()).decode())
