"""The live page as a web application: every address, and who may ask. ``application`` is the table of contents.

It only reads: there is no address that changes anything, and methods other than GET and HEAD are refused. What comes in is an
address: names of campaigns and runs are looked up, never used as paths. Pages hold no script and load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shakedown.live.exposition import exposition
from shakedown.live.indexing import Indexer
from shakedown.live.pages import Pages, static
from shakedown.live.views import NotThere, Views
from shakedown.model.errors import ShakedownError, UsageError
from shakedown.store.index import IndexAway

REFRESH_S = 0.5  # between two looks at the logs
COOKIE = "shakedown_token"
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        b"base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def application(indexer: Indexer, hosts: list[str], token: str = "", refresh_s: float = REFRESH_S) -> ASGIApp:
    """Purpose: the application. ``hosts``: the names under which it may be asked; a request for another host is refused, so that
    no foreign page can read it through a name that is pointed here. ``token``: "" where everybody who reaches it may look.
    """
    site = _Site(indexer, refresh_s)
    routes = [
        Route("/", site.overview),
        Route("/runs", site.runs),
        Route("/campaign/{name}", site.campaign),
        Route("/campaign/{name}/runs", site.runs),
        Route("/campaign/{name}/runs/{run}", site.run),
        Route("/campaign/{name}/scorecard", site.scorecard),
        Route("/campaign/{name}/nodes", site.nodes),
        Route("/campaign/{name}/notes", site.notes),
        Route("/changes", site.changes),
        Route("/metrics", site.metrics),
        Route("/static/{file}", site.static),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(_Token, token=token),
    ]
    handlers: Any = {
        404: site.nothing_here,
        IndexAway: site.away,
        UsageError: site.refused,
        ShakedownError: site.failed,
        500: site.our_fault,
    }
    app = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers, lifespan=site.lifespan)
    return _Headers(app)  # outside of everything: what went wrong has them, too


class _Site:
    """The addresses, each a function of the request."""

    def __init__(self, indexer: Indexer, refresh_s: float) -> None:
        self.views, self.pages, self.refresh_s = Views(indexer), Pages(), refresh_s
        self.indexer, self._leaving = indexer, threading.Event()

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """One thread follows the logs while pages are served."""
        thread = threading.Thread(target=self._follow, name="index", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._leaving.set()
            await run_in_threadpool(thread.join, 10)

    def _follow(self) -> None:
        while not self._leaving.wait(self.refresh_s):
            with contextlib.suppress(ShakedownError, OSError):  # a file system that is away comes back
                try:
                    self.indexer.refresh()
                except IndexAway:
                    self.indexer.start_again()

    async def overview(self, request: Request) -> Response:
        rows = await run_in_threadpool(self.views.overview)
        return self._answer(request, "overview.html", {"campaigns": rows}, "")

    async def campaign(self, request: Request) -> Response:
        name = request.path_params["name"]
        return self._answer(request, "campaign.html", await run_in_threadpool(self.views.campaign, name), name)

    async def runs(self, request: Request) -> Response:
        """A stream of runs: of one campaign or of all; its filters are in the address."""
        name = request.path_params.get("name", "")
        asked = self.pages.asked(request.query_params.multi_items(), name)
        found = await run_in_threadpool(self.views.stream, asked.filter)
        return self._answer(request, "runs.html", found | {"asked": asked, "name": name}, name)

    async def run(self, request: Request) -> Response:
        name = request.path_params["name"]
        row, figures, view = await run_in_threadpool(self.views.run, name, request.path_params["run"])
        facts = {"campaign": row, "figures": figures, "view": view, "name": name}
        return self._answer(request, "run.html", facts, name)

    async def scorecard(self, request: Request) -> Response:
        name = request.path_params["name"]
        scorecard, age = await run_in_threadpool(self.views.scorecard, name)
        campaign = await run_in_threadpool(self.views.facts, name)
        facts = {"campaign": campaign, "scorecard": scorecard, "age": age, "name": name}
        return self._answer(request, "scorecard.html", facts, name)

    async def nodes(self, request: Request) -> Response:
        name = request.path_params["name"]
        examined, drawn, age = await run_in_threadpool(self.views.nodes, name)
        campaign = await run_in_threadpool(self.views.facts, name)
        facts = {"campaign": campaign, "examined": examined, "map": drawn, "age": age, "name": name}
        return self._answer(request, "nodes.html", facts, name)

    async def notes(self, request: Request) -> Response:
        name = request.path_params["name"]
        rows = await run_in_threadpool(self.views.notes, name)
        campaign = await run_in_threadpool(self.views.facts, name)
        return self._answer(request, "notes.html", {"campaign": campaign, "notes": rows, "name": name}, name)

    async def changes(self, request: Request) -> Response:
        """Server-sent events: a number that grows whenever the campaign named in the address, or any, changed."""
        name = request.query_params.get("campaign", "")
        return StreamingResponse(self._changes(request, name), media_type="text/event-stream")

    async def _changes(self, request: Request, name: str) -> AsyncIterator[str]:
        said = -1
        quiet = 0.0
        while not self._leaving.is_set() and not await request.is_disconnected():
            version = self.views.version(name)
            if version != said or quiet > 15:
                said, quiet = version, 0.0
                yield f"data: {version}\n\n"
            await asyncio.sleep(self.refresh_s)
            quiet += self.refresh_s

    async def metrics(self, _request: Request) -> Response:
        rows = await run_in_threadpool(self.views.overview)
        return PlainTextResponse(exposition(rows), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def static(self, request: Request) -> Response:
        found = static(request.path_params["file"])
        if found is None:
            return await self.nothing_here(request, KeyError())
        return Response(found[0], media_type=found[1])

    # ---- what is not there, and what went wrong

    async def nothing_here(self, request: Request, _error: Exception) -> Response:
        return self._sorry(request, 404, "There is no such page.", "")

    async def away(self, request: Request, error: Exception) -> Response:
        return self._sorry(request, 503, *_words(error))

    async def refused(self, request: Request, error: Exception) -> Response:
        return self._sorry(request, 404 if isinstance(error, NotThere) else 400, *_words(error))

    async def failed(self, request: Request, error: Exception) -> Response:
        return self._sorry(request, 409, *_words(error))

    async def our_fault(self, request: Request, _error: Exception) -> Response:
        return self._sorry(request, 500, "This is a fault of Shakedown itself.", "its terminal says more")

    def _sorry(self, request: Request, status: int, says: str, hint: str) -> Response:
        if request.query_params.get("as") == "json":
            return JSONResponse({"error": says, "hint": hint}, status_code=status)
        return Response(
            self.pages.render("sorry.html", {"says": says, "hint": hint, "name": ""}, ""),
            status,
            media_type="text/html",
        )

    def _damaged(self, name: str) -> dict[str, str]:
        """Campaigns whose record is not what was written, with why: the one that a page is of, or all."""
        found = self.views.damaged()
        return {one: why for one, why in found.items() if name in ("", one)}

    def _answer(self, request: Request, template: str, facts: dict[str, Any], name: str) -> Response:
        """The page, or its data with ``?as=json``."""
        facts = {"damaged": self._damaged(name)} | facts
        if request.query_params.get("as") == "json":
            return Response(self.pages.as_json(facts), media_type="application/json")
        path = request.url.path + (f"?{urlencode(request.query_params.multi_items())}" if request.query_params else "")
        facts = {"name": name, "here": path} | facts
        return Response(self.pages.render(template, facts, path), media_type="text/html")


class _Headers:
    """What every answer says to a browser, errors too; and that nothing but looking is possible."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if scope["method"] not in ("GET", "HEAD"):
            refused = PlainTextResponse("this server only shows\n", 405, headers={"allow": "GET, HEAD"})
            await refused(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


class _Token:
    """Lets in who brings the token: once in the address, from then on in a cookie; or as ``Authorization: Bearer``."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.token:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        brought = request.query_params.get("token", "")
        if brought and self._is_it(brought):
            rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
            answer: Callable[[Scope, Receive, Send], Awaitable[None]] = _with_cookie(request.url.path, rest, self.token)
        elif self._is_it(request.cookies.get(COOKIE, "")) or self._is_it(_bearer(request)):
            answer = self.app
        else:
            answer = PlainTextResponse(
                "this page wants a token: open the address that 'shakedown serve' printed\n", 401
            )
        await answer(scope, receive, send)

    def _is_it(self, brought: str) -> bool:
        return hmac.compare_digest(brought.encode(), self.token.encode())


def _with_cookie(path: str, rest: list[tuple[str, str]], token: str) -> Response:
    """The same address without the token, which a cookie keeps from now on."""
    answer = RedirectResponse("/" + path.lstrip("/") + (f"?{urlencode(rest)}" if rest else ""), 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer


def _bearer(request: Request) -> str:
    kind, _, word = request.headers.get("authorization", "").partition(" ")
    return word.strip() if kind.lower() == "bearer" else ""


def _words(error: Exception) -> tuple[str, str]:
    """What went wrong, and the way out."""
    return (error.message, error.hint or "") if isinstance(error, ShakedownError) else (str(error), "")
