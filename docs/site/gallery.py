"""The gallery of ten examples and the notebook, which run while the site is built."""

import ast
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import warnings

# (title, program or recipe of examples/, what to see)
EXAMPLES = [
    (
        "How many dimensions does a noisy recording have?",
        "dimension.sh",
        "The plain count is below 10, the truth; the estimate is not.",
    ),
    (
        "Which eigenvalues has the kernel behind activations?",
        "eigenvalues.sh",
        "All twenty are 0.3, and the fit finds them so.",
    ),
    (
        "How alike are the layers of a network?",
        "layers.sh",
        "Two layers with one kernel have alignment 1, although no neuron is the same.",
    ),
    (
        "Do two areas see the same stimuli alike?",
        "recording.sh",
        "Ten and five dimensions that share nothing.",
    ),
    (
        "How many random features, and how much ridge?",
        "regression.sh",
        "The predicted error is the measured one.",
    ),
    (
        "How large a step may gradient descent take?",
        "step_size.sh",
        "Debiased random features find the norm of the Gram matrix.",
    ),
    (
        "Which weights should a least-squares fit have?",
        "weights.sh",
        "The best exponent is known before the fit.",
    ),
    (
        "Which weights does a nonlinear fit need?",
        "gauss_newton.c",
        "With noise that differs between points, weights cut the error to a tenth.",
    ),
    (
        "How alike are the layers of a random network? (C)",
        "layers.c",
        "The alignment with the first layer falls from layer to layer.",
    ),
    (
        "How large a step? Descend and see (C)",
        "step_size.c",
        "Just below the bound the error shrinks, just above it grows.",
    ),
]


def example(root, build, pages, title, name, see):
    path = root / "examples" / name
    stem = path.name.replace(".", "-")
    folder = build / "site-gallery" / stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {k: v for k, v in os.environ.items() if k != "KSPEC_DATA"} | {"KSPEC": str(build / "kspec")}
    copies = (
        build / "site-gallery" / "examples"
    )  # from where no data set is found: the examples make their own
    shutil.copytree(root / "examples", copies, dirs_exist_ok=True)
    command = ["sh", copies / name] if path.suffix == ".sh" else [build / "examples" / path.stem]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} ends with {done.returncode}: {done.stderr}")
    pictures = []
    for picture in sorted(folder.glob("*.svg")):
        target = pages / "images" / "gallery" / f"{stem}-{picture.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, target)
        pictures.append(f"![{see}](../images/gallery/{target.name})")
    output = done.stdout.replace("\r", "").strip("\n")
    language = "sh" if path.suffix == ".sh" else "c"
    (pages / "gallery" / f"{stem}.md").write_text(
        f"# {title}\n\n{see}\n\n" + "\n\n".join(pictures[:2]) + f"\n\n## "
        f"Output\n\n```text\n{output}\n```\n\n"
        f"## Code\n\n`examples/{name}`\n\n```{language}\n{path.read_text().strip()}\n```\n"
    )
    return stem, title, see, pictures


def notebook(root, pages):
    """The notebook's cells as a page, with what running them shows."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    cells = json.loads((root / "examples" / "first_look.ipynb").read_text())["cells"]
    names, out = {"__name__": "__main__"}, []
    for k, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out.append(source)
            continue
        out.append(f"```python\n{source}\n```")
        tree = ast.parse(source)
        value, printed = None, io.StringIO()
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            exec(compile(tree, "notebook", "exec"), names)
            if last:
                value = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
        printed.write("".join(f"{w.category.__name__}: {w.message}\n" for w in warned))
        text = printed.getvalue() + (f"{value!r}\n" if value is not None else "")
        if text.strip():
            out.append(f"```text\n{text.rstrip()}\n```")
        if plt.get_fignums():
            plt.savefig(pages / "images" / f"notebook-{k}.svg", bbox_inches="tight")
            plt.close("all")
            out.append(f"![the picture of the cell above](images/notebook-{k}.svg)")
    (pages / "notebook.md").write_text(
        "\n\n".join(out) + "\n\nThis page is the notebook `examples/first_look.ipynb`, run while "
        "the site was built.\n"
    )


def write(root, build, pages):
    (pages / "gallery").mkdir()
    shown = [example(root, build, pages, *e) for e in EXAMPLES]
    cards = []
    for stem, title, see, pictures in shown:
        picture = re.sub(r"\.\./images", "images", pictures[0]) + "\n\n" if pictures else ""
        cards.append(f"## [{title}](gallery/{stem}.md)\n\n{picture}{see}\n")
    toc = "\n".join(f"gallery/{stem}" for stem, *_ in shown)
    (pages / "gallery.md").write_text(
        "# Gallery\n\nTen examples with their code and output. Each makes its own data, and takes "
        "yours as an argument. The site runs them "
        "while it is built.\n\n" + "\n".join(cards) + f"\n```{{toctree}}\n:hidden:\n\n{toc}\n```\n"
    )
    notebook(root, pages)
