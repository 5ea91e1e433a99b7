"""``elephan completion``: a script that completes commands with Tab in bash, zsh or fish.

The script holds a table of everything there is to offer, and asks `elephan.cli.completer`, which needs nothing else.
"""

from __future__ import annotations

import json as json_module
import re
import shlex
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from elephan import __version__
from elephan.catalog import catalog
from elephan.cli import completer, options
from elephan.cli.catalog import KINDS
from elephan.cli.common import print_json
from elephan.cli.options import argument
from elephan.cli.run import ENGINES
from elephan.errors import InputError, suggest
from elephan.templates import DEFAULTS

EXAMPLE = """Example:  elephan completion bash > ~/.local/share/bash-completion/completions/elephan
elephan completion zsh > ~/.zfunc/_elephan
elephan completion fish > ~/.config/fish/completions/elephan.fish"""

SOURCES: dict[str, str] = {
    "SCENARIO": "toml",
    "SWEEP": "toml",
    "FILE": "file",
    "DIR": "folder",
    "RUN": "runs",
    "ID": "runs",
    "--scenario": "toml",
    "--store": "folder",
    "--set": "places",
    "--over": "places",
    "--zip": "places",
    "--target": "assigned targets",
    "--precision": "assigned precision",
    "--metric": "names metrics",
    "--laws": "several laws",
    "--queues": "several queues",
    "--find": "names quantities",
    "--columns": "several columns",
    "--link": "links",
    "--engine": "names engines",
    "--workloads": "several workloads",
    "--format": "names formats",
    "--tables": "names formats",
    "size --precision": "",
    "model --set": "parameters",
    "model NAME": "names models",
    "list KIND": "names kinds",
    "new KIND": "names templates",
    "schema KIND": "names schemas",
    "completion SHELL": "names shells",
}
"""Kinds of values of options and arguments: by command and name, by name, or by their name in the help."""

SHELLS = ("bash", "zsh", "fish")
"""Shells, each with a script in the folder ``shells``, whose words between two @ are filled in."""


def completion(
    shell: Annotated[str, argument("SHELL", f"One of {', '.join(SHELLS)}.")],
    json: options.Json = False,
) -> None:
    """Print a script that makes Tab complete commands: verbs, options, names, files, places for --set.

    Try it with: source <(elephan completion bash)
    """
    from elephan.cli import command  # noqa: PLC0415 (it imports this verb)

    if shell not in SHELLS:
        raise InputError(f'completion: there is no "{shell}"; {suggest(shell, SHELLS)}')
    text = script(shell, table(command()))
    if json:
        print_json({"shell": shell, "text": text})
    else:
        sys.stdout.write(text)


def script(shell: str, known: dict[str, Any]) -> str:
    """Return the script of a shell.

    Parameters
    ----------
    shell : str
        One of `SHELLS`.
    known : dict
        The table.
    """
    dumped = json_module.dumps(known, separators=(",", ":"))
    quoted = "'" + dumped.replace("\\", "\\\\").replace("'", "\\'") + "'" if shell == "fish" else shlex.quote(dumped)
    text = files("elephan.cli").joinpath("shells", f"elephan.{shell}").read_text(encoding="utf-8")
    words = {
        "version": __version__,
        "python": shlex.quote(sys.executable),
        "completer": shlex.quote(str(Path(completer.__file__).resolve())),
        "table": quoted,
    }
    return re.sub("@(version|python|completer|table)@", lambda word: words[word[1]], text)


def table(group: TyperGroup) -> dict[str, Any]:
    """Collect all completions.

    Parameters
    ----------
    group : TyperGroup
        The command line.

    Returns
    -------
    dict
        ``verbs`` with their options and arguments, ``names`` of things by kind, ``parameters`` of models, queues and
        laws (``aliases`` of these), ``keys`` of scenario files, ``values`` (which names a key takes).
    """
    from elephan.bench import WORKLOADS  # noqa: PLC0415 (as everything here: other verbs do without)
    from elephan.metrics import METRICS  # noqa: PLC0415 (as above)
    from elephan.results.formats import FORMATS  # noqa: PLC0415 (as above)
    from elephan.runs.measures import counts, numbers  # noqa: PLC0415 (as above)
    from elephan.runs.precision import OF_GROUPS, OF_LINKS  # noqa: PLC0415 (as above)
    from elephan.schema import KINDS as SCHEMAS  # noqa: PLC0415 (as above)
    from elephan.sizing.quantities import QUANTITIES  # noqa: PLC0415 (as above)
    from elephan.sweeps.columns import NAMES  # noqa: PLC0415 (as above)
    from elephan.theory.models import MODELS  # noqa: PLC0415 (as above)

    cards = {kind: catalog(kind) for kind in ("laws", "queues", "recoveries", "traffic")}
    names = {kind: {card["name"]: card["title"] for card in some} for kind, some in cards.items()}
    names |= {
        "models": {name: model.title for name, model in MODELS.items()},
        "targets": dict.fromkeys(("utilization", "loss", "delay", "delay_p95", "fairness"), ""),
        "columns": dict.fromkeys(NAMES, ""),
        "quantities": dict.fromkeys(QUANTITIES, ""),
        "precision": dict.fromkeys((*OF_LINKS, *OF_GROUPS), ""),
        "metrics": {name: METRICS[name].title if name in METRICS else counts()[name] for name in numbers()},
        "kinds": dict.fromkeys(KINDS.split(", "), ""),
        "formats": dict.fromkeys(FORMATS, ""),
        "engines": dict.fromkeys(ENGINES, ""),
        "workloads": dict.fromkeys(WORKLOADS, ""),
        "templates": dict.fromkeys(DEFAULTS, ""),
        "schemas": dict.fromkeys(SCHEMAS, ""),
        "shells": dict.fromkeys(SHELLS, ""),
    }
    parameters = {name: {p: row.meaning for p, row in model.parameters.items()} for name, model in MODELS.items()}
    aliases: dict[str, str] = {}
    for key, kind in (("queue", "queues"), ("control", "laws")):
        for card in cards[kind]:
            parameters[f"{key} {card['name']}"] = {p["name"]: p["meaning"] for p in card["parameters"]}
            aliases |= {f"{key} {alias}": f"{key} {card['name']}" for alias in card["aliases"]}
    values = {"control": "laws", "law": "laws", "queue": "queues", "discipline": "queues"}
    values |= {"recovery": "recoveries", "traffic": "traffic"}
    verbs = _group(group, "", names)
    known = {"names": names, "parameters": parameters, "aliases": aliases, "keys": _keys(), "values": values}
    return verbs | known


def _group(group: Any, name: str, names: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return the completions of a group of commands, which may contain groups."""
    verbs = {
        each: (_group if hasattr(verb, "commands") else _verb)(verb, f"{name} {each}".strip(), names)
        for each, verb in group.commands.items()
        if not verb.hidden
    }
    help_text = (group.short_help or group.help or "").strip().partition("\n")[0]
    return {"help": help_text, "options": _verb(group, name, names)["options"], "verbs": verbs}


def _verb(verb: Any, name: str, names: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return the options and arguments of a command, each with its kind of value; add the names of kinds of its own."""
    options: list[dict[str, Any]] = [{"names": ["--help", "-h"], "value": None, "help": "Show help.", "more": False}]
    arguments, more = [], False
    for each in verb.params:
        if each.param_type_name == "argument":
            arguments.append(_source(verb, name, each, names))
            more = each.nargs == -1
        elif not each.hidden and "--help" not in each.opts:
            value = None if each.is_flag else _source(verb, name, each, names)
            help_text = (each.help or "").partition(";")[0].replace("\\[", "[")
            options.append({"names": list(each.opts), "value": value, "help": help_text, "more": each.multiple})
    help_text = (verb.short_help or verb.help or "").strip().partition("\n")[0]
    return {"help": help_text, "options": options, "arguments": arguments, "more": more}


def _source(verb: Any, name: str, each: Any, names: dict[str, dict[str, str]]) -> str:
    """Return the kind of value of an option or argument; empty if unknown.

    Commands of other distributions declare their values by the parameter `autocompletion` of Typer.
    """
    keys = [*each.opts, each.metavar or ""] if each.param_type_name == "option" else [each.metavar or ""]
    asked = [*(f"{name} {key}" for key in keys), *keys]
    known = next((SOURCES[key] for key in asked if key in SOURCES), None)
    if known is not None:
        return known
    offered = [item for item in each.shell_complete(typer.Context(verb), "") if item.type == "plain"]
    if not offered:
        return ""
    names[asked[0]] = {item.value: item.help or "" for item in offered}
    return f"names {asked[0]}"


def _keys() -> dict[str, dict[str, str]]:
    """Return the keys of a scenario file by table, each with the first sentence of its description in the schema."""
    from elephan.schema import schema  # noqa: PLC0415 (as in `table`)

    found = schema()
    parts = found["$defs"]
    tables = {
        "": found,
        "pools": parts["Pool"],
        "links": parts["Link"],
        "flows": parts["Flows"],
        "record": parts["Record"],
        "tcp": parts["TcpTable"],
    }
    return {
        name: {
            key: " ".join(help_text["description"].split()).partition(". ")[0].rstrip(".")
            for key, help_text in part["properties"].items()
        }
        for name, part in tables.items()
    }
