"""Watch a campaign on a terminal, also over ssh: streams with filters, its state, the details of a run. Display only."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static

from shakedown.events.recorded_name import campaign_name
from shakedown.live.watched import COLUMNS, MOST, STREAMS, Watched
from shakedown.metrics.words import plural
from shakedown.model.errors import ShakedownError
from shakedown.report.words import one_line

LOOK_S = 1.0  # between two looks at the log
STANDING = "standing"
_SIGNS = {"passed": ("✓", "green"), "running": ("▸", "yellow")}
_LETTERS = {"case": 40, "nodes": 60, "reason": 90}  # of a cell: the detail has all of it
_WAITS = frozenset({"ordered", "queued", "judging", "waiting again", "unknown", "absent", "no_answer"})


class Detail(Screen[None]):
    """A screen with scrolling text: one run, or the state of the campaign."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "app.pop_screen", "back")]

    def __init__(self, title: str, text: Callable[[], str]) -> None:
        super().__init__()
        self.heading, self.text = title, text

    def compose(self) -> ComposeResult:
        yield Static(Text(self.heading, style="bold"))
        with VerticalScroll():
            yield Static(Text("reading ..."), id="text")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.read()

    @work(thread=True)
    def read(self) -> None:
        try:
            found = self.text()
        except (ShakedownError, OSError) as error:
            found = str(error)
        self.app.call_from_thread(self.query_one("#text", Static).update, Text(found))


class WatchApp(App[None]):
    """The streams of one campaign. ``filters``: stream -> its filter, in words."""

    CSS = """
    #head { height: auto; } #about { height: 1; color: $text-muted; }
    Input { height: 3; } DataTable { height: 1fr; } #text { padding: 0 1; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "stream('failures')", "failures"),
        Binding("r", "stream('runs')", "runs"),
        Binding("n", "stream('notes')", "events of note"),
        Binding("w", "standing", "what waits"),
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, watched: Watched, look_s: float = LOOK_S) -> None:
        super().__init__()
        self.watched, self.look_s = watched, look_s
        self.stream = STREAMS[0]
        self.filters = dict.fromkeys(STREAMS, "")
        self.trouble = ""

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Input(placeholder="filter: expressions, or column=expression, or node=NAME", id="filter")
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Static(id="about")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(DataTable).focus()
        self.show_stream()
        self.set_interval(self.look_s, self.look)

    def look(self) -> None:
        """Read new events and show them."""
        try:
            came = self.watched.refresh()
            trouble = ""
        except (ShakedownError, OSError) as error:
            came, trouble = False, one_line(str(error), 300)
        if came or trouble != self.trouble:
            self.trouble = trouble
            self.show_stream()

    def action_stream(self, stream: str) -> None:
        self._leave_details()
        self.stream = stream
        box = self.query_one(Input)
        with box.prevent(Input.Changed):
            box.value = self.filters[stream]
        self.show_stream()
        self.query_one(DataTable).focus()

    def action_filter(self) -> None:
        self._leave_details()
        self.query_one(Input).focus()

    def _leave_details(self) -> None:
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def action_standing(self) -> None:
        self._leave_details()
        self.push_screen(Detail("What waits and why, what runs", self.watched.standing))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.filters[self.stream] = event.value
        self.show_stream()
        self.query_one(DataTable).focus()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        run = (event.row_key.value or "").partition(" ")[0]
        if run:
            self.push_screen(Detail(run, lambda: self.watched.detail(run)))

    # ---- what is shown

    def show_stream(self) -> None:
        """Show the stream from the current record; the selected line stays selected."""
        table: DataTable[Text] = self.query_one(DataTable)
        self.query_one("#head", Static).update(self._head())
        try:
            lines, total = self.watched.lines(self.stream, self.filters[self.stream])
            about = f"{self.stream}: {plural(total, 'line')}" + (f", the newest {MOST}" if total > MOST else "")
        except ShakedownError as error:
            lines, about = [], f"{self.stream}: {one_line(str(error), 300)}"
        chosen = self._chosen(table)
        table.clear(columns=True)
        table.add_columns(*COLUMNS[self.stream])
        for place, line in enumerate(lines):
            key = f"{line['run']} {place if self.stream == 'notes' else ''}".rstrip()
            table.add_row(*(_cell(column, line[column]) for column in COLUMNS[self.stream]), key=key or f" {place}")
        if chosen in table.rows:
            table.move_cursor(row=table.get_row_index(chosen))
        self.query_one("#about", Static).update(Text(about))

    def _chosen(self, table: DataTable[Text]) -> str:
        if not table.row_count:
            return ""
        return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value or ""

    def _head(self) -> Text:
        record, counts = self.watched.record, self.watched.counts()
        stands = "over" if record.ended is not None else "not over"
        text = Text(
            f"{one_line(campaign_name(self.watched.layout), 60)}: {stands}; as of event {record.seq}   ", style="bold"
        )
        text.append(", ".join(f"{count} {name}" for name, count in counts.items()), style="not bold")
        if self.trouble:
            text.append(f"\n{self.trouble}", style="bold red")
        return text


def _cell(column: str, text: str) -> Text:
    if column != "state":
        return Text(one_line(text, _LETTERS.get(column, 200)))
    sign, colour = _SIGNS.get(text, ("…", "yellow") if text in _WAITS else ("×", "red"))
    return Text(f"{sign} {one_line(text)}", style=colour)
