"""Sphinx settings of the site that `make docs` builds (Markdown by MyST, theme Furo)."""

import pathlib
import re

from latex2mathml.converter import convert

root = pathlib.Path(__file__).parents[2]
project = "kspec"
author = "the kspec authors"
base = (root / "include/kspec/base.h").read_text()
version = release = ".".join(re.findall(r"^#define KSPEC_VERSION_[MP][A-Z]+ +(\d+)$", base, re.M))

extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline", "colon_fence", "attrs_block"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]  # GitHub draws these fences, too
html_theme = "furo"
html_title = f"kspec {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = False
smartquotes = False  # two hyphens begin an option
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style, pygments_dark_style = "tango", "github-dark"
highlight_language = "none"
html_math_renderer = "mathml"


def inline(writer, node):
    writer.body.append(convert(node.astext()))


def display(writer, node):
    # latex2mathml does not know aligned, nor a norm of a given size
    tex = node.astext().replace("{aligned}", "{align*}").replace("\\Big\\|", "\\|")
    writer.body.append('<div class="math">' + convert(tex, display="block") + "</div>")


def leave(writer, node):
    pass


def skip(writer, node):
    from docutils.nodes import SkipNode

    (inline if node.tagname == "math" else display)(writer, node)
    raise SkipNode


def setup(app):
    # browsers draw MathML without scripts, also without a network
    app.add_html_math_renderer("mathml", inline_renderers=(skip, leave), block_renderers=(skip, leave))
