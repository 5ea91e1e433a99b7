"""The reference of the command line, from the commands themselves: their words, options, defaults and examples."""

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from elephan.cli import app
from elephan_evidence.report.markdown import code, table


def reference() -> str:
    """Write a section for each verb."""
    return "\n".join(line for path, command in verbs() for line in section(path, command))


def verbs() -> Iterator[tuple[str, Any]]:
    """Walk through all commands, those of groups after their group."""
    yield from _below("elephan", typer.main.get_command(app()))


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield f"{path} {name}", inner
            yield from _below(f"{path} {name}", inner)


def section(path: str, command: Any) -> list[str]:
    """Describe one command."""
    shown = [p for p in command.params if not getattr(p, "hidden", False)]
    arguments = [p for p in shown if p.param_type_name == "argument"]
    options = [p for p in shown if p.param_type_name == "option"]
    depth = "##" if path.count(" ") == 1 else "###"
    lines = [f"{depth} `{path}`", "", plain(command.help or command.short_help or ""), ""]
    lines += ["```", " ".join([path, *map(_usage, arguments), *(["[OPTIONS]"] if options else [])]), "```", ""]
    if arguments:
        lines += table(["argument", "meaning"], [[code(_metavar(p)), meaning(p)] for p in arguments])
    if options:
        lines += table(["option", "default", "meaning"], [[_spelt(p), _default(p), meaning(p)] for p in options])
    if getattr(command, "epilog", None):
        examples = command.epilog.removeprefix("Example:").strip()
        lines += ["For example:", "", "```", *map(plain, examples.splitlines()), "```", ""]
    return lines


def plain(text: str) -> str:
    """Remove terminal markup: escaped brackets, and the breaks of a docstring's lines."""
    paragraphs = re.split(r"\n\s*\n", text.partition("\f")[0].strip())
    return "\n\n".join(" ".join(part.split()) for part in paragraphs).replace("\\[", "[")


def meaning(parameter: Any) -> str:
    """Describe a parameter, and whether it may be repeated."""
    text = plain(getattr(parameter, "help", None) or "")
    return f"{text} Repeatable." if parameter.multiple and "repeatable" not in text else text


def _metavar(parameter: Any) -> str:
    if parameter.metavar:
        return str(parameter.metavar)
    return str(parameter.name).upper().strip("_")


def _usage(argument: Any) -> str:
    name = _metavar(argument) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _spelt(option: Any) -> str:
    names = ", ".join(code(name) for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    return f"{names} {code(option.metavar or _kind(option))}"


def _kind(option: Any) -> str:
    """Describe the value of an option without a metavar; Typer has moved its types."""
    known = getattr(option, "type_descriptor", None) or option.type
    whole = getattr(known, "annotation", None) is int or getattr(known, "name", "") == "integer"
    return "N" if whole else str(option.opts[0]).strip("-").upper()


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return option.show_default
    value = option.default
    if option.is_flag or value is None or callable(value) or value in ("", (), []) or "UNSET" in repr(value):
        return ""
    return code(", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
