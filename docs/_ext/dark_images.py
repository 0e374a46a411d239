"""Variants of figures: ``name_dark.svg`` next to ``name.svg`` for dark pages, ``name_small.svg`` for phones, and both."""

from pathlib import Path

from docutils import nodes

VARIANTS = {"": ("only-light", "only-wide"), "_dark": ("only-dark", "only-wide")}
SMALL = {"_small": ("only-light", "only-narrow"), "_small_dark": ("only-dark", "only-narrow")}


def add_variants(app, doctree):
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(doctree.findall(nodes.image)):
        stem, ending = image.get("uri", "").removesuffix(".svg"), ".svg"
        if "://" in stem or not (folder / f"{stem}_dark{ending}").exists():
            continue
        small = (folder / f"{stem}_small{ending}").exists()
        for suffix, (theme, width) in (VARIANTS | SMALL if small else VARIANTS).items():
            variant = image.deepcopy()
            variant["uri"] = f"{stem}{suffix}{ending}"
            variant["classes"] += [theme, width] if small else [theme]
            image.parent.insert(image.parent.index(image), variant)
        image.parent.remove(image)


def setup(app):
    # Before Sphinx collects the images of a page, which happens with a priority of 500.
    app.connect("doctree-read", add_variants, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
