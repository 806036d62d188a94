"""Asks a viewer that is served, as its page does."""

import http.client
import json
import time
from urllib.parse import quote, urlencode, urlsplit


class Asking:
    """Asks a viewer as its page does: with the cookie that the first visit leaves."""

    def __init__(self, address: str) -> None:
        self.address, self.parts, self.cookie = address, urlsplit(address), ""
        self.cookie = self.ask(f"/?{self.parts.query}")[1]["set-cookie"].partition(";")[0]

    def ask(self, path, method="GET", headers=None, body=None):
        """Return the status, the headers and the content of an answer; a header of None is not sent."""
        connection = http.client.HTTPConnection(self.parts.hostname, self.parts.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        sized = {} if body is None else {"Content-Length": str(len(body))}
        for name, value in {"Host": self.parts.netloc, "Cookie": self.cookie, **sized, **(headers or {})}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        found = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        connection.close()
        return found

    def told(self, path, query=(), **body):
        """Return the status and the plain data of an answer, asked for until it is there; what is given is posted."""
        path = f"/api/{path}" + (f"?{urlencode(list(query), quote_via=quote)}" if query else "")
        sent = ("POST", {"Content-Type": "application/json"}, json.dumps(body).encode()) if body else ()
        deadline, status, content = time.monotonic() + 60, 202, b""
        while status == 202 and time.monotonic() < deadline:
            status, _, content = self.ask(path, *sent)
            time.sleep(0.01 if status == 202 else 0)
        return status, json.loads(content)

    def get(self, path, query=(), **body):
        """Return the plain data of an answer that must be there."""
        status, found = self.told(path, query, **body)
        assert status == 200, found
        return found

    def why_not(self, path, query=(), **body):
        """Return the one line in which something is refused."""
        status, found = self.told(path, query, **body)
        assert "error" in found and (status >= 400 or body), found
        assert "\n" not in found["error"]
        return found["error"]

    def rows(self, split, query=(), key="pixels"):
        """Return the numbers of the rows that a query asks for, over all pages."""
        first = self.get(f"data/{key}/{split}.json", query)
        pages = [self.get(f"data/{key}/{split}.json", [*query, ("page", n)]) for n in range(1, first["pages"])]
        return [row["row"] for page in (first, *pages) for row in page["rows"]]
