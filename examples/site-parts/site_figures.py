from collections import Counter

from matplotlib.figure import Figure

from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import ACCENT, draw


def starts_by_hour(material: Material) -> Drawn:
    """One figure, or none where nothing ran."""
    rows = material.evidence.record.current()
    starts = [row.started for row in rows if row.started is not None]
    if not starts:
        return [], []
    hours = Counter(int((start - material.begin) // 3600) for start in starts)

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.bar(list(hours), list(hours.values()), color=ACCENT)
        axes.set_xlabel("hour of the campaign")
        axes.set_ylabel("runs begun")

    caption = "Runs by the hour in which they began."
    return [draw("starts-by-hour", "Starts by hour", caption, 1.7, paint)], []


STARTS = ReportFigure("starts by hour", "times", starts_by_hour, order=90)
