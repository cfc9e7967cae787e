"""The rules of the public header that a compiler does not see, each tried on a header that breaks it first.

usage: check_api.py SOURCE_DIR
"""
import pathlib
import re
import sys

GROWING = "(?:result|dataset|point|info|shape|measured)"
FROZEN = {"kspec_matrix", "kspec_error", "kspec_progress"}
LINES, FUNCTIONS = 2000, 71  # of all headers but host.h: whoever adds something takes something away
HOST = "host.h"  # not stable, so that what is said of structs that never change and of sizes leaves it out


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def enums(code):
    for body, name in re.findall(r"typedef enum \{(.*?)\}\s*(\w*)\s*;", code, re.S):
        yield name, [c.split("=") for c in body.replace("\n", " ").split(",") if c.strip()]
    for _ in re.findall(r"^enum \{", code, re.M):
        yield "", []


def structs(code):
    pattern = r"typedef struct (?:\w+ )?\{((?:[^{}]|\{[^{}]*\})*)\}\s*(\w+)\s*;"
    for body, name in re.findall(pattern, code, re.S):
        yield name, " ".join(body.split())


def functions(code):
    for declaration in re.findall(r"KSPEC_API\s+([^;{]*?)\s*;", code, re.S):
        declaration = " ".join(declaration.split())
        yield re.fullmatch(r"(.*?)(\w+)\((.*)\)", declaration).group(2, 1, 3)


def breaches(files):
    """A line for each breach in {file name: text}"""
    found = []
    for file, text in files.items():
        found += [f"{file}:{k}: {len(line)} characters are more than 110"
                  for k, line in enumerate(text.splitlines(), 1) if len(line) > 110]
        code = without_comments(text)
        for name, constants in enums(code):
            if not name:
                found.append(f"{file}: an enum without a name")
                continue
            prefix = name.upper().removesuffix("_CODE") + "_"
            for k, (constant, *value) in enumerate(constants):
                constant = constant.strip()
                if name != "kspec_status" and not constant.startswith(prefix):
                    found.append(f"{file}: {constant} of {name} does not begin with {prefix}")
                if k == 0 and (not value or value[0].strip() != "0"):
                    found.append(f"{file}: the first constant of {name}, {constant}, is not = 0")
        for name, body in structs(code):
            if name.endswith("_opts") and not body.startswith("size_t size;"):
                found.append(f"{file}: {name} does not begin with size_t size")
            if name.endswith("_result") or name == "kspec_dataset":
                for kind, stars, field in re.findall(r"(?:const )?(kspec_\w+) (\**)\s?(\w+)", body):
                    if stars == "*" and field.endswith("s") and kind not in FROZEN and "_result" not in kind:
                        found.append(f"{file}: {name}.{field} is an array of {kind}: use pointers")
        for name, returns, arguments in functions(code):
            returns = returns.strip()
            if name.endswith("_free"):
                if name != "kspec_free":
                    found.append(f"{file}: {name}() is one of several functions that free: use kspec_free()")
                continue
            if returns == "kspec_status" and not arguments.endswith("kspec_error *err"):
                found.append(f"{file}: {name}() does not end in kspec_error *err")
            for kind, stars in re.findall(r"(?<!const )\b(kspec_(?:\w+_)?" + GROWING + r") (\*+)", arguments):
                if stars == "*":
                    found.append(f"{file}: {name}() fills a {kind} of the caller's")
            if re.fullmatch(r"kspec_(?:\w+_)?" + GROWING, returns):
                found.append(f"{file}: {name}() returns {returns} by value")
    return found


def frozen(files):
    """Structs that can never grow: those that another struct or a call holds by value, and those of the
    caller's that are pointed to and have no size. What the library makes and frees may grow."""
    code = "".join(without_comments(text) for file, text in files.items() if file != HOST)
    bodies = dict(structs(code))
    made = set(re.findall(r"(kspec_\w+) \*\*out\b", code))
    made |= set(re.findall(r"(kspec_\w+) \*\*", " ".join(bodies.values())))
    fixed = {name for name, body in bodies.items() if not body.startswith("size_t size;")} - made
    found = set()
    for name, body in bodies.items():
        found |= {kind for const, kind, stars in re.findall(r"(const )?(kspec_\w+) (\**)", body)
                  if not stars or (stars == "*" and const)}
    for _, returns, arguments in functions(code):
        found |= {kind for kind, stars in re.findall(r"(kspec_\w+) (\**)", arguments) if len(stars) < 2}
        found.add(returns.strip())
    return found & fixed


def unlisted(files):
    """A line for each struct that cannot grow and that kspec.h does not list, and the reverse"""
    text = " ".join(files["kspec.h"].replace("\n *", " ").split())
    listed = re.search(r"never change: ([\w, ]+)\.", text)
    listed = set(listed.group(1).split(", ")) if listed else set()
    return [f"kspec.h: structs that never change: {name} {'does' if name in listed else 'is not listed'}"
            for name in sorted(frozen(files) ^ listed)]


def too_large(files):
    """A line for each bound that the headers do not keep, host.h aside"""
    stable = [text for file, text in files.items() if file != HOST]
    lines = sum(len(text.splitlines()) for text in stable)
    calls = sum(len(list(functions(without_comments(text)))) for text in stable)
    return [f"the public headers have {count} {what}, not fewer than {bound}"
            for count, what, bound in ((lines, "lines", LINES), (calls, "functions", FUNCTIONS))
            if count >= bound]


BROKEN = {
    "KSPEC_A_ONE of kspec_b": "typedef enum { KSPEC_A_ONE = 0 } kspec_b;",
    "is not = 0": "typedef enum { KSPEC_B_ONE = 1 } kspec_b;",
    "without a name": "enum { KSPEC_ONE = 1 };",
    "size_t size": "typedef struct { int threads; } kspec_x_opts;",
    "use pointers": "typedef struct { kspec_point *points; } kspec_x_result;",
    "use kspec_free": "KSPEC_API void kspec_x_free(kspec_x_result *r);",
    "kspec_error *err": "KSPEC_API kspec_status kspec_x(int n);",
    "of the caller's": "KSPEC_API kspec_status kspec_x(kspec_x_result *out, kspec_error *err);",
    "by value": "KSPEC_API kspec_x_shape kspec_x(int n);",
    "more than 110": "/* " + "x" * 110 + " */",
}
SOUND = """
typedef enum { KSPEC_B_ONE = 0, /* = 1, it says */ KSPEC_B_TWO } kspec_b;
typedef enum { KSPEC_OK = 0, KSPEC_E_ARG } kspec_status;
typedef struct { size_t size; int threads; } kspec_x_opts;
typedef struct { kspec_point **points; double *values; kspec_y_result *moments; } kspec_x_result;
KSPEC_API void kspec_free(void *result);
KSPEC_API kspec_status kspec_x(const kspec_matrix *x, const kspec_x_opts *opts, kspec_x_result **out,
                               kspec_error *err);
"""


def self_test():
    bad = [f"self-test: '{want}' was not found" for want, text in BROKEN.items()
           if not any(want in line for line in breaches({"x.h": text}))]
    if len(untested({"x.h": SOUND}, "kspec_free(NULL); kspec_xy(1);")) != 1:
        bad.append("self-test: a function that no test calls was not found")
    top = "/* Structs that never change: kspec_a,\n * kspec_b. */"
    by_value = ("typedef struct { int n; } kspec_a; KSPEC_API int kspec_x(kspec_a a);"
                "typedef struct { int n; } kspec_c; KSPEC_API kspec_c kspec_y(int n);")
    if len(unlisted({"kspec.h": top, "x.h": by_value})) != 2:
        bad.append("self-test: a list of structs that is not right was not found")
    if len(untested({"x.h": SOUND}, "kspec_free(NULL); kspec_x(1);")) != 1:
        bad.append("self-test: a call that is not tried without a place for its result was not found")
    long = "/* x */\n" * (LINES - FUNCTIONS) + "KSPEC_API int kspec_x(int n);\n" * FUNCTIONS
    if len(too_large({"x.h": long})) != 2 or too_large({HOST: long}):
        bad.append("self-test: a public header that is too large was not found")
    return bad + [f"self-test: {line}" for line in breaches({"x.h": SOUND}) if "110" not in line]


def untested(files, test):
    """A line for each public function that the contract's test does not call, and for each with an `out` that
    it does not call with NULL there"""
    found = []
    for name, _, arguments in (f for text in files.values() for f in functions(without_comments(text))):
        if not re.search(rf"\b{name}\(", test):
            found.append(f"{name}() is missing in tests/unit/test_contract.c")
        elif "**out" in arguments and not re.search(rf"\bNO_OUT\({name}\(", test):
            found.append(f"{name}() is not called with out = NULL in tests/unit/test_contract.c")
    return found


def main():
    source = pathlib.Path(sys.argv[1])
    include = source / "include"
    files = {p.name: p.read_text() for p in [include / "kspec.h", *sorted((include / "kspec").glob("*.h"))]}
    found = self_test() or breaches(files) + unlisted(files) + too_large(files)
    found += untested(files, "".join((source / "tests" / name).read_text()
                                     for name in ("help/contract_calls.h", "unit/test_contract.c")))
    print(*found, sep="\n")
    if found:
        sys.exit(1)
    count = sum(len(list(functions(without_comments(text)))) for text in files.values())
    print(f"{count} functions keep the rules")


main()
