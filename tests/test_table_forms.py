"""One table in the formats of spreadsheets and editors: read alike by `import`, links and lists of flows."""

from pathlib import Path

import pytest

from conftest import Command
from elephan import Scenario, flow_files, trace_files
from elephan.errors import InputError
from elephan.importing import TableForm, read
from elephan.scenario import EXAMPLE

PLAIN = b"time_s,remark,VALUE\n0,a,1000000\n1,b,2000000\n"

FORMS = {
    "plain": PLAIN,
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "byte order mark and quotes": b"\xef\xbb\xbf" + PLAIN.replace(b"time_s", b'"time_s"'),
    "carriage returns": PLAIN.replace(b"\n", b"\r\n"),
    "carriage returns alone": PLAIN.replace(b"\n", b"\r"),
    "no last newline": PLAIN.removesuffix(b"\n"),
    "quotes": b'"time_s","remark","VALUE"\n"0","a","1000000"\n"1","b,c;d;e","2000000"\n',
    "blanks after commas": PLAIN.replace(b",", b", "),
    "blanks before commas": PLAIN.replace(b",", b"\t,"),
    "blank last lines": PLAIN + b"\n\n",
    "blank first line": b"\n" + PLAIN,
    "blank lines between": PLAIN.replace(b"\n", b"\n\n"),
    "semicolons in a name": PLAIN.replace(b"remark", b'"r;e;m;a;r;k"'),
}

REFUSED = {
    "too many fields": PLAIN.replace(b"b,", b"b,c,"),
    "too few fields": PLAIN.replace(b"b,", b""),
    "decreasing": PLAIN.replace(b"\n0", b"\n3"),
    "negative": PLAIN.replace(b",1000000", b",-1"),
    "words": PLAIN.replace(b"1000000", b"fast"),
    "underscores": PLAIN.replace(b"1000000", b"1_000_000"),
    "comments": b"# measured\n" + PLAIN,
    "gzip": b"\x1f\x8b\x08\x00\x00,\x00\xff",
    "no columns": b"\xef\xbb\xbf",
    "UTF-16": PLAIN.decode().encode("utf-16"),
}


def table(folder: Path, held: bytes, value: str, time: str = "time_s") -> Path:
    file = folder / "table.csv"
    file.write_bytes(held.replace(b"VALUE", value.encode()).replace(b"time_s", time.encode()))
    return file


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_is_read_alike_by_import_links_and_lists_of_flows(tmp_path: Path, form: str) -> None:
    file = table(tmp_path, FORMS[form], "rate_bps")
    found = read(file)
    assert list(found.rows) == [(0.0, 1e6), (1.0, 2e6)]
    assert found.as_it_stands
    steps = [["0 ns", "1000000 bit/s"], ["1000000000 ns", "2000000 bit/s"]]
    assert trace_files.read(file) == {"steps": steps}
    (tmp_path / "s.toml").write_text(found.scenario(file.name))
    # Shorter than a run: it begins again.
    assert Scenario.from_file(tmp_path / "s.toml").source["links"][0]["rate"] == {"steps": steps, "period": "2 s"}
    file = table(tmp_path, FORMS[form].replace(b"000000", b""), "delay_s")
    assert list(read(file).rows) == [(0.0, 1.0), (1.0, 2.0)]
    assert trace_files.read(file, "delay") == {
        "steps": [["0 ns", f"{10**12} ps"], ["1000000000 ns", f"{2 * 10**12} ps"]]
    }
    file = table(tmp_path, FORMS[form], "size_bytes", "start_s")
    assert flow_files.read(file) == "0 ns 1000000 B;1000000000 ns 2000000 B"


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_no_table_is_refused_by_all_of_them(tmp_path: Path, form: str) -> None:
    file = table(tmp_path, REFUSED[form], "rate_bps")
    for reader in (read, trace_files.read):
        with pytest.raises(InputError) as error:
            reader(file)
        assert str(error.value).isprintable()
    with pytest.raises(InputError) as error:
        flow_files.read(table(tmp_path, REFUSED[form], "size_bytes", "start_s"))
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "held",
    [
        b"1\n3\n3\n7\n",
        b"\xef\xbb\xbf1\n3\n3\n7\n",
        b"1\r\n3\r\n3\r\n7",
        b"1\r3\r3\r7\r",
        b"1\n3\n3\n7\n\n\n",
        b"1\n3\n3\n7\n  \n",
        b" 1\n 3\n3 \n\t7\n",
    ],
)
@pytest.mark.parametrize("name", ["cell.up", "cell.csv"])
def test_every_form_of_opportunities_is_read_alike(tmp_path: Path, held: bytes, name: str, elephan: Command) -> None:
    file = tmp_path / name
    file.write_bytes(held)
    done = elephan("import", file, "--out", tmp_path / "s.toml")
    assert done.code == 0, done.err
    assert Scenario.from_file(tmp_path / "s.toml").source["links"][0]["rate"] == {"opportunities": "1 3x2 7"}


@pytest.mark.parametrize("held", [b"1\n\n3\n", b"\n1\n3\n", b"1 3\n", b"# 1\n3\n", b"3\n1\n", b"1.5\n", b"-1\n2\n"])
def test_what_mahimahi_refuses_in_a_trace_is_refused(tmp_path: Path, held: bytes) -> None:
    file = tmp_path / "cell.up"
    file.write_bytes(held)
    for reader in (read, trace_files.read):
        with pytest.raises(InputError):
            reader(file)


def test_a_table_whose_second_column_is_said_to_have_another_unit_is_written_anew(tmp_path: Path) -> None:
    file = table(tmp_path, b"time_s,VALUE\n0,1\n1,2\n", "rate_bps")
    found = read(file, TableForm(rate="Mbit/s"))
    assert (list(found.rows), found.as_it_stands) == ([(0.0, 1e6), (1.0, 2e6)], False)


def test_a_scenario_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.encode())
    assert Scenario.from_file(file) == Scenario.from_text(EXAMPLE)
