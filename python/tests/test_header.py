"""The binding is the header: every offset, size, value and function, as the C compiler says."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from kspec import _functions, _header
from kspec._library import library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_layouts_are_those_of_the_compiler_that_built_it() -> None:
    assert len(_header.LAYOUTS) > 30
    for name, (size, offsets) in _header.LAYOUTS.items():
        struct = getattr(_header, name)
        assert ctypes.sizeof(struct) == size
        assert {f: getattr(struct, f).offset for f, *_ in struct._fields_} == offsets


def test_the_compiler_agrees_today(tmp_path: pathlib.Path) -> None:
    """A program of static assertions: nothing here was written by the generator that made _header.py."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler or not (ROOT / "include").exists():
        pytest.skip("no C compiler, or not in the sources")
    lines = ['#include "kspec_tool.h"']
    values = {k: v for k, v in vars(_header).items() if k.startswith("KSPEC_")}
    lines += [f'_Static_assert({k} == {v}, "{k}");' for k, v in values.items()]
    for name, (size, offsets) in _header.LAYOUTS.items():
        lines.append(f'_Static_assert(sizeof({name}) == {size}, "{name}");')
        lines += [
            f'_Static_assert(offsetof({name}, {f}) == {at}, "{name}.{f}");' for f, at in offsets.items()
        ]
        struct = getattr(_header, name)
        lines += [
            f'_Static_assert(sizeof((({name} *)0)->{f}) == {ctypes.sizeof(kind)}, "{name}.{f}");'
            for f, kind, *_ in struct._fields_
        ]
    lines.append(f'_Static_assert(sizeof KSPEC_VERSION == {len(_header.VERSION) + 1}, "version");')
    source = tmp_path / "layout.c"
    source.write_text("\n".join(lines))
    subprocess.run(
        [compiler, "-fsyntax-only", f"-I{ROOT}/include", f"-I{ROOT}/python/tool", source], check=True
    )
    header = "".join(p.read_text() for p in sorted((ROOT / "include/kspec").glob("*.h")))
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    assert set(re.findall(r"\b(KSPEC_[A-Z0-9_]+)\s*(?==|,|\n\s*\})", code)) - set(values) <= {
        "KSPEC_API",
        "KSPEC_VERSION_MAJOR",  # arguments of the macro that makes the string
        "KSPEC_VERSION_MINOR",
    }
    assert set(re.findall(r"KSPEC_API[^;(]*?\b(kspec_\w+)\(", code)) <= set(_header.FUNCTIONS)


def test_every_default_is_zero() -> None:
    """The header's rule: a zeroed struct of options, its size set, means all defaults. So there is none to
    copy."""
    lib = library()
    for name in [n for n in _header.LAYOUTS if n.endswith("_opts")]:
        assert bytes(getattr(_header, name)()) == bytes(_header.LAYOUTS[name][0])
    x = (ctypes.c_double * 20)(*range(20))
    m = _header.kspec_matrix(x, 5, 4, 4, 1)
    found = []
    for o in (None, _header.kspec_moments_opts(size=ctypes.sizeof(_header.kspec_moments_opts))):
        out, err = ctypes.POINTER(_header.kspec_moments_result)(), _header.kspec_error()
        assert (
            lib.kspec_moments(ctypes.byref(m), 1, o and ctypes.byref(o), ctypes.byref(out), ctypes.byref(err))
            == 0
        )
        r = out.contents
        found.append([r.estimates[k].contents.value for k in range(r.count)])
        lib.kspec_free(out)
    assert found[0] == found[1] and len(found[0]) == 4


def test_every_function_is_there() -> None:
    lib = library()
    for name in _header.FUNCTIONS:
        assert getattr(lib, name).argtypes is not None
    assert lib.kspec_version().decode() == _header.VERSION


def test_every_verb_has_its_place() -> None:
    import kspec

    made = {n for n in vars(_functions) if n.startswith("wls_")}
    assert made == {"wls_" + n for n in dir(kspec.wls) if not n.startswith("_")}
    made = {n for n in vars(_functions) if n.startswith("theory_")}
    assert made == {"theory_" + n for n in kspec.theory.__all__}


def test_static_fields_are_keys_of_the_object(x: object) -> None:
    """A field of a result that no object has would always be empty."""
    import dataclasses

    import kspec

    objects = [
        kspec.moments(x),
        kspec.dimension(x, plan="200x100"),
        kspec.dimension({"a": x, "b": x}),
        kspec.dimension([x, x[:, ::-1].copy()], target=x[:, :2].copy()),
        kspec.spectrum(x),
        kspec.norm(x, method="eigen", sigma=1.0),
        kspec.config(),
        kspec.theory.rbf(eta=1.0, eigenvalues=2),
        kspec.theory.sphere(kernel="ntk", dim=3),
    ]
    for kind in {type(o) for o in objects}:
        keys = {k for o in objects if type(o) is kind for k in o.to_dict()}
        fields = {f.name for f in dataclasses.fields(kind) if not f.name.startswith("_")}
        assert fields <= keys, kind
