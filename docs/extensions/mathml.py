"""Mathematics as MathML, typeset while the site is built: pages need no script and no font.

Sphinx asks the renderer that `html_math_renderer` names for each equation, inline or displayed.
"""

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def typeset(latex: str, display: str, place: str) -> str:
    """Return the MathML of an equation; `display` is "inline" or "block".

    Raises
    ------
    ExtensionError
        With the place, if it is not LaTeX that can be typeset.
    """
    known = " ".join(latex.split()).replace("{aligned}", "{align*}")
    try:
        found: str = convert(known, display=display)
    except Exception as error:  # latex2mathml raises all kinds
        raise ExtensionError(f"{place}: cannot typeset {latex!r}: {error!r}") from error
    # What it does not know it writes as an identifier.
    if "<mi>\\" in found:
        raise ExtensionError(f"{place}: unknown command in {latex!r}")
    return found.replace("<math ", f'<math alttext="{escape(latex, quote=True)}" ', 1)


def inline(translator: Any, node: nodes.Element) -> None:
    """Write an equation in a line."""
    translator.body.append(typeset(node.astext(), "inline", str(node.source)))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.Element) -> None:
    """Write a displayed equation, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="equation"))
    translator.body.append(typeset(node.astext(), "block", f"{node.source}:{node.line}"))
    translator.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config["html_math_renderer"] = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
