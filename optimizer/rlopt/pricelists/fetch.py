"""Fetching a price file over HTTP: whole, in time, of a sane size, or not at all.

Answers are kept in a small cache beside the user catalogs: an address that names a version of its answer (ETag,
Last-Modified) is asked whether it has changed, and where it cannot be asked the old answer is known to be old.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3.exceptions import DecodeError, ProtocolError, ReadTimeoutError
from urllib3.util.retry import Retry

from rlopt.pricelists.table import LARGEST_BYTES

CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 30.0
"""Longest silence."""
WHOLE_SECONDS: Final = 300.0
"""Longest time of one answer, however steadily it drips."""
TRIES: Final = 4
FIRST_WAIT_SECONDS: Final = 0.5
LONGEST_WAIT_SECONDS: Final = 60
"""A server that asks for a longer wait (Retry-After) is asked another day."""
STATUSES: Final = (429, 500, 502, 503, 504)
MOST_REDIRECTS: Final = 3
CHUNK_BYTES: Final = 1 << 16
AGENT: Final = "rlopt (price catalogs)"


class FetchError(Exception):
    """No whole answer: why, in words."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Patience and size; tests have less of both."""

    connect_seconds: float = CONNECT_SECONDS
    read_seconds: float = READ_SECONDS
    whole_seconds: float = WHOLE_SECONDS
    tries: int = TRIES
    first_wait_seconds: float = FIRST_WAIT_SECONDS
    longest_wait_seconds: int = LONGEST_WAIT_SECONDS
    most_bytes: int = LARGEST_BYTES


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: its bytes, and the day that the server gives it."""

    url: str
    data: bytes
    as_of: date
    whole: bool
    """Whether the server said how long it would be, so that all of it is known to be there."""


class _Patient(HTTPAdapter):
    """Reads the whole body here, so that size and time are watched while it comes in."""

    def __init__(self, limits: FetchLimits) -> None:
        self.limits = limits
        retry = Retry(
            total=limits.tries - 1,
            connect=limits.tries - 1,
            read=limits.tries - 1,
            redirect=0,
            status_forcelist=STATUSES,
            allowed_methods=("GET",),
            backoff_factor=limits.first_wait_seconds,
            backoff_max=limits.longest_wait_seconds,
            retry_after_max=limits.longest_wait_seconds,
            raise_on_status=False,
            raise_on_redirect=False,
        )
        super().__init__(max_retries=retry)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """Send, then read to the end within the limits."""
        response = super().send(request, *args, **kwargs)
        ends = time.monotonic() + self.limits.whole_seconds
        said = response.headers.get("Content-Length", "")
        if said.isdigit() and int(said) > self.limits.most_bytes:
            self._refuse(response, f"{int(said):,} bytes are more than a price list has")
        parts, size = [], 0
        while part := _some_of(response):
            parts.append(part)
            size += len(part)
            if size > self.limits.most_bytes:
                self._refuse(response, f"more than {self.limits.most_bytes:,} bytes are more than a price list has")
            if time.monotonic() > ends:
                self._refuse(response, f"the answer took longer than {self.limits.whole_seconds:g} s")
        response._content = b"".join(parts)  # what requests itself keeps there once it has read
        return response

    @staticmethod
    def _refuse(response: requests.Response, message: str) -> None:
        response.close()
        raise FetchError(message)


def _some_of(response: requests.Response) -> bytes:
    """What has come in of a body, unpacked; nothing at its end. A server that drips is seen to drip."""
    try:
        return bytes(response.raw.read1(CHUNK_BYTES, decode_content=True))
    except ReadTimeoutError:
        raise FetchError("the answer stopped in the middle") from None
    except DecodeError:
        raise FetchError("the answer is packed in a way that cannot be unpacked") from None
    except (ProtocolError, OSError):
        raise FetchError("the answer broke off: it is shorter than it said") from None


class Fetcher:
    """Fetches price files; one session for all."""

    def __init__(self, cache: Path, limits: FetchLimits | None = None) -> None:
        self.limits = limits or FetchLimits()
        logging.getLogger("urllib3").setLevel(logging.ERROR)  # what was asked again is told by the outcome
        cache.parent.mkdir(parents=True, exist_ok=True)
        self.session = CachedSession(
            str(cache), backend="sqlite", expire_after=0, always_revalidate=True, allowable_codes=(200,)
        )
        self.session.headers["User-Agent"] = AGENT
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, _Patient(self.limits))

    def get(self, url: str) -> Fetched:
        """Fetch one address. Raises FetchError where no whole answer came."""
        host, asked = urlsplit(url).netloc, url
        for _ in range(MOST_REDIRECTS + 1):
            _check_address(asked)
            response = self._ask(asked)
            if not response.is_redirect:
                return _fetched(url, response)
            target = response.next.url if response.next is not None else None
            if target is None or urlsplit(target).netloc != host:
                raise FetchError(f"{asked} sends on to {target}, another host; if that is right: --from {target}")
            if urlsplit(asked).scheme == "https" and urlsplit(target).scheme != "https":
                raise FetchError(f"{asked} sends on to {target}, which is not encrypted")
            asked = target
        raise FetchError(f"{url} sends on more than {MOST_REDIRECTS} times")

    def _ask(self, url: str) -> requests.Response:
        patience = (self.limits.connect_seconds, self.limits.read_seconds)
        try:
            return self.session.get(url, timeout=patience, allow_redirects=False)
        except requests.exceptions.RetryError as error:
            raise FetchError(f"{url} did not answer well in {self.limits.tries} tries: {_why(error)}") from None
        except FetchError as error:
            raise FetchError(f"{url}: {error}") from None
        except requests.exceptions.Timeout:
            raise FetchError(f"{url} kept silent for {self.limits.read_seconds:g} s") from None
        except requests.exceptions.RequestException as error:
            raise FetchError(f"{url} cannot be reached: {_why(error)}") from None

    def drop(self, url: str) -> None:
        """Forget an answer that was not good enough, so that it is never taken for the old one."""
        self.session.cache.delete(urls=[url])

    def close(self) -> None:
        """Let go of connections and of the cache."""
        self.session.close()  # type: ignore[no-untyped-call]


def _check_address(url: str) -> None:
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise FetchError(f"{url[:200]} is no address that starts with https:// or http://")


def _why(error: Exception) -> str:
    """The innermost reason, on one line."""
    reason: Any = error
    while getattr(reason, "args", None) and isinstance(reason.args[0], Exception):
        reason = reason.args[0]
    reason = getattr(reason, "reason", None) or reason
    return str(reason).partition("\n")[0][:200]


def _fetched(url: str, response: requests.Response) -> Fetched:
    if response.status_code != 200:
        raise FetchError(f"{url} answered {response.status_code} {response.reason or ''}".rstrip())
    said = "Content-Length" in response.headers or response.headers.get("Transfer-Encoding", "") == "chunked"
    return Fetched(url, response.content, _day(response), said)


def _day(response: requests.Response) -> date:
    """Day on which the server says that the file was changed, else on which it answered, else today."""
    for header in ("Last-Modified", "Date"):
        try:
            return parsedate_to_datetime(response.headers[header]).date()
        except (KeyError, TypeError, ValueError):
            continue
    return datetime.now().astimezone().date()
