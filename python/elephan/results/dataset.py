"""Results as one `xarray.Dataset`: axes of the points x replication x link or flow x time.

Source: CF Metadata Conventions 1.11 for the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import _native
from elephan.errors import InputError
from elephan.extras import require
from elephan.metrics.quantity import (
    FAIRNESS,
    FLOW_SAMPLES,
    FLOWS,
    LINK_FACTS,
    LINK_SAMPLES,
    LINKS,
    QUANTITIES,
    long_names,
    unit,
)
from elephan.results.axes import POINT, ResultAxis, link_at, result_axes
from elephan.results.parts import ResultPart, RunArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Variables = dict[str, tuple[tuple[str, ...], NDArray[Any], dict[str, str]]]
    Grid = list[tuple[tuple[int, ...], RunArrays]]

CONVENTIONS = "CF-1.11"

OVER_TIME = "_over_time"
"""Suffix of the names of samples, which tells them apart from their means."""

KINDS = (
    ("facts", "link_", "", ("link",), LINK_FACTS),
    ("of_runs", "", "", ("replication",), FAIRNESS),
    ("of_links", "link_", "", ("replication", "link"), LINKS),
    ("of_flows", "flow_", "", ("replication", "flow"), FLOWS),
    ("link_samples", "link_", OVER_TIME, ("replication", "link", "time"), LINK_SAMPLES),
    ("flow_samples", "flow_", OVER_TIME, ("replication", "flow", "time"), FLOW_SAMPLES),
)
"""Groups of arrays: attribute of `RunArrays`, prefix and suffix of names, dimensions, and kind of quantity."""


def dataset(parts: Sequence[ResultPart], title: str) -> Any:
    """Arrange all parts on common axes.

    Parameters
    ----------
    parts : sequence of ResultPart
        Those without arrays only have a place on the axes.
    title : str

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    InputError
        If xarray is not installed, or `parts` is empty.
    """
    require("to_xarray", "xarray")
    import xarray as xr  # noqa: PLC0415 (optional)

    if not parts:
        raise InputError("to_xarray: there is no result to lay out; look at failures")
    axes, places = result_axes([part.labels for part in parts], lambda name, i: _buffer(name, parts[i].document))
    grid = [(place, part.arrays()) for place, part in zip(places, parts, strict=True) if part.arrays is not None]
    lengths = {axis.name: len(axis) for axis in axes}
    inner = _inner(grid)
    variables: Variables = {}
    for attribute, begin, end, dims, kind in KINDS:
        known = long_names(kind)
        for name in dict.fromkeys(name for _, arrays in grid for name in getattr(arrays, attribute)):
            values = _filled(grid, attribute, name, tuple(lengths.values()), dims, inner)
            attrs = _attributes(name, known.get(name, name.replace("_", " ")))
            variables[f"{begin}{name}{end}"] = ((*lengths, *dims), values, attrs)
    compared = {each.name: each.meaning for each in QUANTITIES.values() if each.compared}
    for name in dict.fromkeys(name for part in parts for name in part.compared):
        values = np.full(tuple(lengths.values()), np.nan)
        for place, part in zip(places, parts, strict=True):
            values[place] = part.compared.get(name, np.nan)
        variables[name] = (tuple(lengths), values, _attributes(name, compared.get(name, name)))
    coordinates = _coordinates(axes) | _inner_coordinates(inner)
    about = {"title": title, "source": f"elephan {_native.version()}", "Conventions": CONVENTIONS}
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    kept = {name: one for name, one in coordinates.items() if set(one[0]) <= used}
    return xr.Dataset(variables, kept, about)


def _attributes(name: str, long_name: str) -> dict[str, str]:
    return {"units": unit(name), "long_name": long_name}


def _buffer(name: str, document: Mapping[str, Any]) -> float | None:
    """Buffer in packets at a place of the scenario, such as ``links[core].buffer``."""
    packets = link_at(name, document["links"]).get("buffer_packets")
    return None if packets is None else float(packets)


def _inner(grid: Grid) -> dict[str, Any]:
    """Coordinates of the dimensions of a run: the union over all runs, in order of appearance."""
    times = [arrays.time_s for _, arrays in grid if arrays.time_s.size]
    same = all(len(one) == len(times[0]) and np.array_equal(one, times[0]) for one in times)
    return {
        "replication": list(range(max((arrays.replications for _, arrays in grid), default=0))),
        "link": list(dict.fromkeys(name for _, arrays in grid for name in arrays.links)),
        "flow": list(dict.fromkeys(flow for _, arrays in grid for flow in arrays.flows)),
        "time": (times[0] if same else np.unique(np.concatenate(times))) if times else np.empty(0),
    }


def _filled(
    grid: Grid, attribute: str, name: str, points: tuple[int, ...], dims: tuple[str, ...], inner: Mapping[str, Any]
) -> NDArray[Any]:
    """Return one array over all runs; NaN where a run lacks the link, flow or instant."""
    kind = np.result_type(
        np.float32, *(getattr(a, attribute)[name].dtype for _, a in grid if name in getattr(a, attribute))
    )
    found = np.full((*points, *(len(inner[dim]) for dim in dims)), np.nan, dtype=kind)
    for place, arrays in grid:
        values = getattr(arrays, attribute).get(name)
        if values is not None:
            found[place][np.ix_(*(_where(arrays, dim, inner) for dim in dims))] = values
    return found


def _where(arrays: RunArrays, dim: str, inner: Mapping[str, Any]) -> NDArray[np.int64]:
    """Positions of a run's own links, flows or instants among those of all runs."""
    if dim == "replication":
        return np.arange(arrays.replications)
    if dim == "time":
        return np.searchsorted(inner[dim], arrays.time_s)
    order = {name: i for i, name in enumerate(inner[dim])}
    return np.array([order[name] for name in (arrays.links if dim == "link" else arrays.flows)], dtype=np.int64)


def _coordinates(axes: Sequence[ResultAxis]) -> Variables:
    """Return coordinates along the axes of the points, numbers with their units."""
    found: Variables = {}
    for axis in axes:
        about = {"long_name": "point of the sweep" if axis.name == POINT else axis.place}
        for name, one in {axis.name: axis.coordinate, **axis.beside}.items():
            attrs = (about if name == axis.name else {"long_name": name}) | ({"units": one.unit} if one.unit else {})
            found[name] = ((axis.name,), _array(one.values, one.unit), attrs)
    return found


def _array(values: tuple[Any, ...], unit: str) -> NDArray[Any]:
    if unit or all(isinstance(value, bool) for value in values):
        return np.array(values)
    return np.array([str(value) for value in values])


def _inner_coordinates(inner: Mapping[str, Any]) -> Variables:
    flows = inner["flow"]
    found = (
        ("replication", "replication", inner["replication"], np.int64, "1", "replication"),
        ("link", "link", inner["link"], str, "", "name of the link"),
        ("flow", "flow", [str(flow) for flow in flows], str, "", "flow, by group and number"),
        ("group", "flow", [flow.group for flow in flows], str, "", "group of the flow"),
        ("index", "flow", [flow.number for flow in flows], np.int64, "1", "number of the flow in its group"),
        ("time", "time", inner["time"], float, "s", "time since the start of the run"),
    )
    return {
        name: ((dim,), np.array(values, dtype=kind), ({"units": units} if units else {}) | {"long_name": long_name})
        for name, dim, values, kind, units, long_name in found
    }
