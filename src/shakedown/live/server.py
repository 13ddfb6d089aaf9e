"""The live page as a web application: every address, and access control. ``application`` is the table of contents.

It only reads: methods other than GET and HEAD are refused, except for one address where rulings are allowed, which leaves requests
in a campaign's inbox (``sayings``). Names of campaigns and runs in an address are looked up, never used as paths. Pages contain no
script and load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
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
from starlette.types import ASGIApp

from shakedown.live.beside import asked_to_compare, asked_to_look_back
from shakedown.live.exposition import exposition
from shakedown.live.guards import OF_A_FIGURE, Headers, Token
from shakedown.live.indexing import Indexer
from shakedown.live.judged import QUICK_S, NotYet
from shakedown.live.maps import COLOURS
from shakedown.live.pages import Pages, segment, static
from shakedown.live.pictures import titles
from shakedown.live.sayings import LONGEST_FORM, RULINGS, NotAllowed, Sayings, TooLong, shipped_classes
from shakedown.live.views import NotThere, Views
from shakedown.model.errors import ShakedownError, UsageError
from shakedown.store.index import IndexAway

REFRESH_S = 0.5  # between two looks at the logs


def application(
    indexer: Indexer,
    hosts: list[str],
    token: str = "",
    refresh_s: float = REFRESH_S,
    wait_s: float | None = QUICK_S,
    rulings: bool = False,
) -> ASGIApp:
    """Purpose: the application. ``hosts``: the host names that it accepts; a request for another host is refused, so that no
    foreign page can read it through a name that points here. ``token``: "" where everybody who can reach it may read it.
    ``wait_s``: how long a page waits for a slow computation before it says so; None waits until the result is ready. ``rulings``:
    whether people may enter rulings, classes and tickets; requires a token.
    """
    sayings = Sayings(token) if rulings and token else None
    site = _Site(indexer, refresh_s, wait_s, sayings)
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(Token, token=token),
    ]
    handlers: Any = {
        404: site.nothing_here,
        IndexAway: site.away,
        NotYet: site.not_yet,
        UsageError: site.refused,
        ShakedownError: site.failed,
        500: site.our_fault,
    }
    app = Starlette(routes=_routes(site), middleware=middleware, exception_handlers=handlers, lifespan=site.lifespan)
    return Headers(
        app, ("GET", "HEAD", *(["POST"] if sayings else []))
    )  # outside of everything: what went wrong has them, too


def _routes(site: _Site) -> list[Route]:
    """Every address."""
    return [
        Route("/", site.page(site.overview)),
        Route("/runs", site.page(site.runs)),
        Route("/compare", site.page(site.compare)),
        Route("/compare.svg", site.page(site.compare)),
        Route("/history", site.page(site.history)),
        Route("/history.svg", site.page(site.history)),
        Route("/campaign/{name}", site.page(site.campaign)),
        Route("/campaign/{name}/runs", site.page(site.runs)),
        Route("/campaign/{name}/runs/{run}", site.page(site.run)),
        Route("/campaign/{name}/scorecard", site.page(site.scorecard)),
        Route("/campaign/{name}/nodes", site.page(site.nodes)),
        Route("/campaign/{name}/figures", site.page(site.figures)),
        Route("/campaign/{name}/figures/{file}", site.figure),
        Route("/campaign/{name}/why", site.page(site.why)),
        Route("/campaign/{name}/notes", site.page(site.notes)),
        Route("/changes", site.changes),
        Route("/metrics", site.metrics),
        Route("/static/{file}", site.static),
        *([Route("/campaign/{name}/say", site.say, methods=["POST"])] if site.sayings else []),
    ]


class _Site:
    """The handlers of the addresses, each a function of the request."""

    def __init__(self, indexer: Indexer, refresh_s: float, wait_s: float | None, sayings: Sayings | None) -> None:
        self.views, self.pages, self.refresh_s = Views(indexer, wait_s), Pages(sayings is not None), refresh_s
        self.sayings = sayings
        self.indexer, self._leaving = indexer, threading.Event()

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Run the thread that follows the logs while pages are served."""
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

    def page(self, show: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Wrap a page so that it notes the version of its data first: a change during its creation then counts as newer."""

        async def versioned(request: Request) -> Response:
            request.state.version = self.views.version(request.path_params.get("name", ""))
            return await show(request)

        return versioned

    async def overview(self, request: Request) -> Response:
        rows = await run_in_threadpool(self.views.overview)
        return self._answer(request, "overview.html", {"campaigns": rows}, "")

    async def campaign(self, request: Request) -> Response:
        name = request.path_params["name"]
        return self._answer(request, "campaign.html", await run_in_threadpool(self.views.campaign, name), name)

    async def why(self, request: Request) -> Response:
        """Why a run, a case, a component or a criterion has its state: ``of`` in the address names it."""
        name, subject = request.path_params["name"], request.query_params.get("of", "")
        answer = await run_in_threadpool(self.views.why, name, subject)
        campaign = await run_in_threadpool(self.views.facts, name)
        return self._answer(request, "why.html", {"campaign": campaign, "answer": answer, "name": name}, name)

    async def runs(self, request: Request) -> Response:
        """A stream of runs of one campaign or of all; its filters are in the address."""
        name = request.path_params.get("name", "")
        items = request.query_params.multi_items()
        said = [(key, value) for key, value in items if value]
        if len(said) < len(items):  # a form sends every field: what it does not ask for is no part of the address
            return RedirectResponse(f"?{urlencode(said)}", 303)
        asked = self.pages.asked(items, name)
        found = await run_in_threadpool(self.views.stream, asked.filter, bool(asked.word("draw")))
        for key in ("earlier", "later"):
            found[key] = asked.beside(found[key]) if found[key] is not None else ""
        facts = found | {"asked": asked, "name": name} | (self._may_say(request) if name else {"saying": None})
        return self._answer(request, "runs.html", facts, name)

    async def run(self, request: Request) -> Response:
        name = request.path_params["name"]
        row, figures, said, view = await run_in_threadpool(self.views.run, name, request.path_params["run"])
        facts = {"campaign": row, "figures": figures, "said": said, "view": view, "name": name} | self._may_say(request)
        return self._answer(request, "run.html", facts, name)

    async def say(self, request: Request) -> Response:
        """Accept a form with a ruling or a note on runs, then redirect to a page of these runs, which shows the answer."""
        assert self.sayings is not None
        name = request.path_params["name"]
        await run_in_threadpool(self.views.facts, name)
        said = self.sayings.said_in(request, await _body(request))
        told = await run_in_threadpool(self.views.say, name, said, self.sayings)
        if request.query_params.get("as") == "json":
            return JSONResponse(told)
        at = f"/campaign/{segment(name)}/runs"
        back = f"{at}/{segment(said.runs[0])}?" if len(said.runs) == 1 else f"{at}?bad=1&"
        return RedirectResponse(f"{back}told={self.sayings.keep(told)}", 303)

    def _may_say(self, request: Request) -> dict[str, Any]:
        """The values for the form, and the answer to the previous form; None where forms are not allowed."""
        if self.sayings is None:
            return {"saying": None}
        told = self.sayings.kept(request.query_params.get("told", ""))
        return {"saying": {"word": self.sayings.word, "told": told, "rulings": RULINGS, "classes": shipped_classes()}}

    async def scorecard(self, request: Request) -> Response:
        name = request.path_params["name"]
        scorecard, age = await run_in_threadpool(self.views.scorecard, name)
        campaign = await run_in_threadpool(self.views.facts, name)
        facts = {"campaign": campaign, "scorecard": scorecard, "age": age, "name": name}
        return self._answer(request, "scorecard.html", facts, name)

    async def nodes(self, request: Request) -> Response:
        name, colour = request.path_params["name"], request.query_params.get("colour", COLOURS[0])
        examined, drawn, age = await run_in_threadpool(self.views.nodes, name, colour)
        campaign = await run_in_threadpool(self.views.facts, name)
        facts = {"campaign": campaign, "examined": examined, "map": drawn, "age": age, "name": name, "colour": colour}
        return self._answer(request, "nodes.html", facts, name)

    async def figures(self, request: Request) -> Response:
        """The figures of the report for the current record. ``only``: a regular expression on their titles."""
        name, only = request.path_params["name"], request.query_params.get("only", "")
        gallery, age = await run_in_threadpool(self.views.figures, name)
        campaign = await run_in_threadpool(self.views.facts, name)
        sections = gallery.chosen(only)
        facts = {"campaign": campaign, "sections": sections, "only": only, "seq": gallery.seq, "age": age, "name": name}
        more = {"troubles": gallery.troubles, "figures": titles(sections)}
        return self._answer(request, "figures.html", facts | more, name)

    async def figure(self, request: Request) -> Response:
        """One of these figures as SVG. A browser may cache it where the address names its event."""
        name, file = request.path_params["name"], request.path_params["file"]
        data, seq = await run_in_threadpool(self.views.figure, name, file.removesuffix(".svg"))
        kept = {"cache-control": "private, max-age=3600"} if request.query_params.get("event") == str(seq) else {}
        return Response(data, media_type="image/svg+xml", headers=kept | OF_A_FIGURE)

    async def compare(self, request: Request) -> Response:
        """Two campaigns compared, as a page or as its figure."""
        asked = asked_to_compare(request.query_params)
        found = await run_in_threadpool(self.views.compare, asked)
        if request.url.path.endswith(".svg"):
            return Response(await run_in_threadpool(found.svg), media_type="image/svg+xml", headers=OF_A_FIGURE)
        facts = {"asked": asked, "found": found, "compared": found.compared, "words": urlencode(request.query_params)}
        return self._answer(request, "compare.html", facts | {"name": ""}, "")

    async def history(self, request: Request) -> Response:
        """One figure over all campaigns, as a page or as its figure."""
        asked = asked_to_look_back(request.query_params)
        found = await run_in_threadpool(self.views.history, asked)
        if request.url.path.endswith(".svg"):
            return Response(await run_in_threadpool(found.svg), media_type="image/svg+xml", headers=OF_A_FIGURE)
        facts = {"asked": asked, "found": found, "looked": found.looked and found.looked.history}
        return self._answer(request, "history.html", facts | {"words": urlencode(request.query_params), "name": ""}, "")

    async def notes(self, request: Request) -> Response:
        name, of_kind = request.path_params["name"], request.query_params.get("kind", "")
        rows, kinds = await run_in_threadpool(self.views.notes, name, of_kind)
        campaign = await run_in_threadpool(self.views.facts, name)
        facts = {"campaign": campaign, "notes": rows, "kinds": kinds, "of_kind": of_kind, "name": name}
        return self._answer(request, "notes.html", facts, name)

    async def changes(self, request: Request) -> Response:
        """Server-sent events: a number that grows whenever the campaign named in the address, or any campaign, changes."""
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

    async def not_yet(self, request: Request, error: Exception) -> Response:
        """The answer while a result is being computed: the page reloads by itself."""
        return self._sorry(request, 202, *_words(error), again=True)

    async def refused(self, request: Request, error: Exception) -> Response:
        status = next((status for kind, status in _REFUSALS.items() if isinstance(error, kind)), 400)
        return self._sorry(request, status, *_words(error))

    async def failed(self, request: Request, error: Exception) -> Response:
        return self._sorry(request, 409, *_words(error))

    async def our_fault(self, request: Request, _error: Exception) -> Response:
        return self._sorry(request, 500, "This is a fault of Shakedown itself.", "its terminal says more")

    def _sorry(self, request: Request, status: int, says: str, hint: str, again: bool = False) -> Response:
        if request.query_params.get("as") == "json":
            return JSONResponse({"error": says, "hint": hint}, status_code=status)
        return Response(
            self.pages.render("sorry.html", {"says": says, "hint": hint, "name": "", "again": again}, ""),
            status,
            media_type="text/html",
        )

    def _damaged(self, name: str) -> dict[str, str]:
        """Campaign -> why its record is damaged: for the campaign of a page, or for all."""
        found = self.views.damaged()
        return {one: why for one, why in found.items() if name in ("", one)}

    def _answer(self, request: Request, template: str, facts: dict[str, Any], name: str) -> Response:
        """The page, or its data with ``?as=json``."""
        facts = {"damaged": self._damaged(name)} | facts
        if request.query_params.get("as") == "json":
            return Response(self.pages.as_json(facts), media_type="application/json")
        path = request.url.path + (f"?{urlencode(request.query_params.multi_items())}" if request.query_params else "")
        facts = {"name": name, "here": path, "of_version": request.state.version} | facts
        return Response(self.pages.render(template, facts, path), media_type="text/html")


_REFUSALS: dict[type[Exception], int] = {NotThere: 404, NotAllowed: 403, TooLong: 413}


async def _body(request: Request) -> bytes:
    """The content of a form. Errors: TooLong, before all of it is read."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            raise TooLong(f"a form has at most {LONGEST_FORM} bytes")
    return body


def _words(error: Exception) -> tuple[str, str]:
    """The message and the hint of an error."""
    return (error.message, error.hint or "") if isinstance(error, ShakedownError) else (str(error), "")
