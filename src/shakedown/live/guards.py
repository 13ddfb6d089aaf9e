"""Access control of the live page, and the headers of all its answers. Both wrap the whole application."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "shakedown_token"  # with the port behind it where the address has one: cookies of all ports of a host are in one jar
# A figure that is opened by its own address: its looks are in it, and it runs nothing.
OF_A_FIGURE = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox"
}
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        b"base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer a form of ours would say that it is from nowhere
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Headers:
    """Adds headers to every answer, errors too, where the answer does not set them itself; and limits the HTTP methods."""

    def __init__(self, app: ASGIApp, methods: Sequence[str]) -> None:
        self.app, self.methods = app, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = list(message.get("headers", []))
                names = {name for name, _ in said}
                message["headers"] = [*said, *((name, value) for name, value in HEADERS if name not in names)]
            await send(message)

        if scope["method"] not in self.methods:
            refused = PlainTextResponse("this server only shows\n", 405, headers={"allow": ", ".join(self.methods)})
            await refused(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


class Token:
    """Lets in a request that has the token: once in the address, from then on in a cookie; or as ``Authorization: Bearer``."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.token:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        brought = request.query_params.get("token", "")
        if brought and self._is_token(brought):
            rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
            answer: Callable[[Scope, Receive, Send], Awaitable[None]] = _with_cookie(request, rest, self.token)
        elif self._is_token(request.cookies.get(_cookie_of(request), "")) or self._is_token(_bearer(request)):
            answer = self.app
        else:
            answer = PlainTextResponse(
                "this page wants a token: open the address that 'shakedown serve' printed\n", 401
            )
        await answer(scope, receive, send)

    def _is_token(self, brought: str) -> bool:
        return hmac.compare_digest(brought.encode(), self.token.encode())


def _with_cookie(request: Request, rest: list[tuple[str, str]], token: str) -> Response:
    """A redirection to the same address without the token, which a cookie keeps from now on."""
    answer = RedirectResponse("/" + request.url.path.lstrip("/") + (f"?{urlencode(rest)}" if rest else ""), 303)
    answer.set_cookie(_cookie_of(request), token, httponly=True, samesite="strict")
    return answer


def _cookie_of(request: Request) -> str:
    """The name of this server's cookie: two servers on one host, each with a token, do not log each other's readers out."""
    _, _, port = request.headers.get("host", "").rpartition(":")
    return f"{COOKIE}_{port}" if port.isascii() and port.isdigit() else COOKIE


def _bearer(request: Request) -> str:
    kind, _, word = request.headers.get("authorization", "").partition(" ")
    return word.strip() if kind.lower() == "bearer" else ""
