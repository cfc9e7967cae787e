"""The tables of a page of the documentation, made by kspec.

    page = Page("norm", "The tables of docs/measurements/norm.md")

    @page.table
    def updates():
        "Power iteration against the number of updates"
        return markdown(["method", "t = 1"], [["power", "4347"]])

    page.finish()

`doc_norm.py updates` prints one table, `doc_norm.py` all of them. With --docs a table also replaces the text
between its markers `<!-- updates: repro/doc_norm.py -->` and `<!-- end -->` in
docs/measurements/norm.md, where the page has them. Results are cached as those of the figures are, at the
papers' sizes. A table whose data or Python modules are missing is skipped.
"""
from harness import RANK, ROOT, Runs, mean, options, standard_error


class Skipped(Exception):
    pass


class Page(Runs):
    def __init__(self, name, description):
        self.script, self.tables = f"repro/doc_{name}.py", {}
        self.page = ROOT / f"docs/measurements/{name}.md"
        p = options(description, figures=False)
        p.add_argument("tables", nargs="*", metavar="TABLE", help="the tables to make (default: all)")
        p.add_argument("--docs", action="store_true", help="write them into the page")
        super().__init__(self.script, p.parse_args(), full=True)

    def table(self, function):
        """Registers a table: a function that returns lines of text, whose docstring says what they are"""
        self.tables[function.__name__] = function
        return function

    def skip(self, reason, remedy):
        raise Skipped(f"{reason}; {remedy}")

    def finish(self):
        unknown = [t for t in self.args.tables if t not in self.tables]
        if unknown:
            raise SystemExit(f"{self.script}: '{unknown[0]}' must be one of {', '.join(self.tables)}")
        for name in self.args.tables or self.tables:
            self.commands.clear()
            print(f"\n### {name}: {' '.join(self.tables[name].__doc__.split())}\n")
            try:
                lines = self.tables[name]()
            except (Skipped, ImportError) as reason:
                print(f"skipped: {reason}")
                continue
            if self.commands:
                print(f"    {self.commands[0]}\n")
            print("\n".join(lines), flush=True)
            if self.args.docs and RANK == 0:
                self._write(name, lines)

    def _write(self, name, lines):
        begin, end = f"<!-- {name}: {self.script} -->\n", "<!-- end -->"
        head, found, rest = self.page.read_text().partition(begin)
        if found:
            self.page.write_text(head + begin + "\n".join(lines) + "\n" + rest[rest.index(end):])


def markdown(head, rows):
    """The lines of a table"""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]


def with_error(x):
    """Mean ± standard error"""
    return f"{mean(x):.4g} ± {standard_error(x):.1g}"
