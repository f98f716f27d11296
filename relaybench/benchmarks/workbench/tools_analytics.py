"""Analytics tools: website visits (read only) and the table of plots made. Messages as in the official code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.benchmarks.workbench.tables import Row

if TYPE_CHECKING:
    from relaybench.benchmarks.workbench.sandbox import Sandbox

METRICS = (
    "total_visits",
    "session_duration_seconds",
    "user_engaged",
    "visits_direct",
    "visits_referral",
    "visits_search_engine",
    "visits_social_media",
)
PLOTS = ("bar", "line", "scatter", "histogram")


def create_plot(
    box: Sandbox,
    /,
    time_min: str | None = None,
    time_max: str | None = None,
    value_to_plot: str | None = None,
    plot_type: str | None = None,
) -> str:
    if not time_min:
        return "Start date not provided."
    if not time_max:
        return "End date not provided."
    if value_to_plot not in METRICS:
        return (  # the official message names other values than the ones it accepts
            "Value to plot must be one of 'total_visits', 'session_duration_seconds', 'user_engaged', "
            "'direct', 'referral', 'search engine', 'social media'"
        )
    if plot_type not in PLOTS:
        return "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'"
    plots = box.state["analytics"]
    path = f"plots/{time_min}_{time_max}_{value_to_plot}_{plot_type}.png"
    plots.put({"file_path": path}, label=len(plots.rows))
    return path


def get_visitor_information_by_id(box: Sandbox, /, visitor_id: str | None = None) -> list[dict[str, object]] | str:
    if not visitor_id:
        return "Visitor ID not provided."
    visits = box.base.visits
    return visits.records(visits.where("visitor_id", visitor_id)) or "Visitor not found."


def total_visits_count(box: Sandbox, /, time_min: str | None = None, time_max: str | None = None) -> dict[str, int]:
    return {date: len(rows) for date, rows in _by_day(box, time_min, time_max).items()}


def engaged_users_count(box: Sandbox, /, time_min: str | None = None, time_max: str | None = None) -> dict[str, int]:
    return _count(box, time_min, time_max, "user_engaged", "True")


def traffic_source_count(
    box: Sandbox, /, time_min: str | None = None, time_max: str | None = None, traffic_source: str | None = None
) -> dict[str, int]:
    if not traffic_source:
        return total_visits_count(box, time_min, time_max)
    return _count(box, time_min, time_max, "traffic_source", traffic_source)


def get_average_session_duration(
    box: Sandbox, /, time_min: str | None = None, time_max: str | None = None
) -> dict[str, float]:
    """Mean seconds a session, by day."""
    column = box.base.visits.columns.index("session_duration_seconds")
    days = _by_day(box, time_min, time_max)
    return {date: sum(float(str(row[column])) for row in rows) / len(rows) for date, rows in days.items()}


def _by_day(box: Sandbox, time_min: str | None, time_max: str | None) -> dict[str, list[Row]]:
    """Visits by date in order; the bounds are compared as strings and are inclusive."""
    visits = box.base.visits
    column = visits.columns.index("date_of_visit")
    days: dict[str, list[Row]] = {}
    for row in visits.rows:
        date = str(row[column])
        if (not time_min or date >= time_min) and (not time_max or date <= time_max):
            days.setdefault(date, []).append(row)
    return dict(sorted(days.items()))


def _count(box: Sandbox, time_min: str | None, time_max: str | None, name: str, value: str) -> dict[str, int]:
    """By day, how many visits have `value` in column `name`; days with none count 0."""
    column = box.base.visits.columns.index(name)
    days = _by_day(box, time_min, time_max)
    return {date: sum(row[column] == value for row in rows) for date, rows in days.items()}


READS = (
    get_visitor_information_by_id,
    total_visits_count,
    engaged_users_count,
    traffic_source_count,
    get_average_session_duration,
)
WRITES = (create_plot,)
