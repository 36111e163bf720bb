"""The gallery: every figure with its caption, its data and its YAML, written from config/."""

from pathlib import Path
from typing import Any

import imagesize
import yaml
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
# Pixels of a drawing across the page; one of a single panel has fewer.
WIDE = 2025
LISTS = {
    "The figures of the paper": "config/config.yaml",
    "Beyond the paper": "config/supplement.yaml",
}
HEAD = """\
# Gallery

Every figure, with its full caption, the command that makes it, its data, and the YAML from which
theory and simulations follow. Each drawing is also made as PDF and SVG.
"""
PICTURE = """\
```{{figure}} ../gallery/{name}.png
:alt: {title}
:width: {width}%

{caption}
```"""
ENTRY = """\
(figure-{name})=
### {number}. {title}

{picture}

Made by `snakemake --cores all figures/{name}.pdf{overlay}`. Its data are then in
`results/figures/{name}.nc`: `giantstep.open_figure("{name}")`.

<details><summary>{name}.yaml</summary>

```{{literalinclude}} ../../config/figures/{name}.yaml
:language: yaml
```

</details>
"""


def entry(name: str, config: str) -> str:
    """Write what the gallery says of one figure."""
    figure: dict[str, Any] = yaml.safe_load((ROOT / f"config/figures/{name}.yaml").read_text())
    number = name.removeprefix("fig").upper()
    overlay = "" if config == "config/config.yaml" else f" --configfile {config}"
    title, caption = (" ".join(figure[key].split()) for key in ("title", "caption"))
    picture = caption
    if (drawing := ROOT / f"docs/gallery/{name}.png").exists():
        width = min(100, 100 * imagesize.get(drawing)[0] // WIDE)
        picture = PICTURE.format(name=name, title=title, caption=caption, width=width)
    return ENTRY.format(name=name, number=number, title=title, picture=picture, overlay=overlay)


def write(app: Sphinx) -> None:
    """Write the page."""
    pages = [HEAD]
    for title, config in LISTS.items():
        figures = yaml.safe_load((ROOT / config).read_text())["figures"]
        pages += [f"## {title}\n", *(entry(name, config) for name in figures)]
    folder = Path(app.srcdir, "generated")
    folder.mkdir(exist_ok=True)
    (folder / "gallery.md").write_text("\n".join(pages), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before pages are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
