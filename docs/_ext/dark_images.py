"""Dark variants of figures: where ``name_dark.svg`` is next to ``name.svg``, each theme shows its own."""

from pathlib import Path

from docutils import nodes


def add_dark_variants(app, doctree):
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(doctree.findall(nodes.image)):
        uri = image.get("uri", "")
        dark = uri.removesuffix(".svg") + "_dark.svg"
        if uri.endswith(".svg") and "://" not in uri and (folder / dark).exists():
            other = image.deepcopy()
            image["classes"].append("only-light")
            other["classes"].append("only-dark")
            other["uri"] = dark
            image.parent.insert(image.parent.index(image) + 1, other)


def setup(app):
    # Before Sphinx collects the images of a page, which happens with a priority of 500.
    app.connect("doctree-read", add_dark_variants, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
