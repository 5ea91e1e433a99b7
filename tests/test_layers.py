"""The check of the layers finds violations."""

from pathlib import Path
from typing import Any

from conftest import load_file

ROOT = Path(__file__).resolve().parent.parent

PAGE = """
## Rust layers

| # | crate | holds |
|--:|---|---|
| 0 | `base` | units |
| 1 | `law` | laws |
| 1 | `queue`, `traffic` | queues |

## Python layers

| # | module | holds |
|--:|---|---|
| 0 | `errors` | exceptions |
| 1 | `theory`, `stats` | models |
| 2 | `run` | runs |
"""


layers = load_file(ROOT / "tools" / "layers.py")
circles = load_file(ROOT / "tools" / "circles.py")


def test_circles_of_rust_modules_are_found_and_uses_in_comments_tests_and_macros_are_none() -> None:
    texts = {
        (): "pub use a::A;\nmod a;",
        (
            "a",
        ): "use crate::b::{self, c::{D, E as F}};\n// use crate::d::X;\n#[cfg(test)]\nmod tests { use crate::d::X; }",
        ("b",): "mod c;\nuse c::D;\nmacro_rules! m { () => { $crate::d::X } }",
        ("b", "c"): "fn f() -> super::super::a::A { crate::d::g() }",
        ("d",): "use crate::A;",
    }
    edges = circles.graph(texts)
    assert edges[("a",)] == {("b",), ("b", "c")}
    assert edges[("b",)] == {("b", "c")}
    assert edges[("b", "c")] == {("a",), ("d",)}
    assert circles.circles(edges) == ["a, b, b::c"]


def test_modules_of_the_crates_form_no_new_circles() -> None:
    assert list(circles.violations(ROOT)) == []


def metadata(**needs: list[str]) -> dict[str, Any]:
    return {
        "packages": [
            {"name": f"elephan-{name}", "dependencies": [{"name": other} for other in others]}
            for name, others in needs.items()
        ]
    }


def violations(**needs: list[str]) -> list[str]:
    return list(layers.crate_violations(layers.table(PAGE, "Rust layers"), metadata(**needs)))


def wrong_layers(*lines: str) -> list[str]:
    return list(layers.layer_violations(layers.table(PAGE, "Python layers"), lines))


def test_the_table_is_read_with_several_layers_in_a_row() -> None:
    assert layers.table(PAGE, "Rust layers") == {"base": 0, "law": 1, "queue": 1, "traffic": 1}


def test_downwards_is_allowed() -> None:
    assert violations(base=["serde"], law=["elephan-base", "libm"], queue=["elephan-base"]) == []


def test_upwards_and_sideways_are_not() -> None:
    assert violations(base=["elephan-law"], law=["elephan-queue"], queue=[]) == [
        "crates/base (0) must not depend on law (1)",
        "crates/law (1) must not depend on queue (1)",
    ]


def test_a_crate_needs_a_row() -> None:
    assert violations(attic=[]) == ["crates/attic: no row in docs/architecture.md"]


def test_the_contract_has_the_rows_of_the_table() -> None:
    assert wrong_layers("run", "theory : (stats)", "errors") == []


def test_a_contract_in_another_order_is_found() -> None:
    assert wrong_layers("theory | stats", "run") == [
        "import-linter: layer 'run' is out of the order of docs/architecture.md"
    ]
    assert wrong_layers("run | stats") == [
        "import-linter: layer 'run | stats' is out of the order of docs/architecture.md"
    ]


def test_a_layer_needs_a_row() -> None:
    assert wrong_layers("run | attic") == ["import-linter: attic has no row in docs/architecture.md"]


MODULES = ("elephan", "elephan.runs", "elephan.runs.result", "elephan.plots", "elephan.stats")


def unseen(*lines: str) -> list[str]:
    return list(layers.unseen_imports("elephan.runs.result", "\n".join(lines), MODULES))


def test_of_the_package_as_a_whole_only_the_extension_is_imported() -> None:
    assert unseen("from elephan import _native, stats", "from elephan.stats import ecdf") == []
    (found,) = unseen("if TYPE_CHECKING:", "    from elephan import _native, Scenario")
    assert found.startswith("elephan.runs.result:2: import Scenario from where it is defined")
    (found,) = unseen("def page():", "    import elephan")
    assert found.startswith("elephan.runs.result:2: import what is needed")


def test_an_import_by_name_stays_in_its_package() -> None:
    assert unseen('import_module("pandas")', 'importlib.import_module(f"elephan.runs.{name}")') == []
    (found,) = unseen('import_module("elephan.plots").figures(of)')
    assert found.startswith("elephan.runs.result:1: elephan.plots is imported by its name")
    assert unseen('__import__("elephan")', 'importlib.import_module(f"elephan.{name}")') != []


def test_the_linter_counts_imports_for_types() -> None:
    assert list(layers.python_violations({})) == []
    (found,) = layers.python_violations({"exclude_type_checking_imports": True})
    assert "TYPE_CHECKING" in found


def test_this_project_has_its_tables() -> None:
    page = (ROOT / layers.PAGE).read_text(encoding="utf-8")
    assert layers.table(page, "Rust layers")["sim"] > layers.table(page, "Rust layers")["transport"]
    assert layers.table(page, "Python layers")["theory"] < layers.table(page, "Python layers")["runs"]


def test_an_import_within_a_function_says_why() -> None:
    line = "    import pyarrow  # noqa: PLC0415"
    assert list(layers.unreasoned_imports("elephan.runs", f"{line} (slow to import)")) == []
    assert list(layers.unreasoned_imports("elephan.runs", line)) == [
        "elephan.runs:1: say behind noqa: PLC0415, in brackets, why the import is not at the top"
    ]
