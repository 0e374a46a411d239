"""The directive ``published-studies``: what ``labelsieve study`` can run, from the studies themselves."""

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from labelsieve.studies.published import PUBLISHED


def lines():
    """For each study: what was published, how to run it, what is in it, what was left open."""
    for name, study in PUBLISHED.items():
        yield from [f".. rubric:: {name}", "", f"{plain(study.title)}.", "", f"Paper: {plain(study.paper)}", ""]
        yield from [".. code-block:: console", "", f"   $ labelsieve study {name} --data DIR --full", ""]
        for part, protocol in study.protocols(full=True, sets=None, data_home=None).items():
            yield from [f"- ``{part}``: {plain(repr(protocol)).replace('Protocol: ', '')}", ""]
        yield from ["What the paper leaves open, and what was chosen:", ""]
        for about, chosen in study.choices.items():
            yield from [f"- **{plain(about)}**: {plain(chosen)}"]
        yield ""


class PublishedStudies(SphinxDirective):
    """``.. published-studies::``."""

    def run(self):
        self.env.note_reread()  # it comes from the code, which Sphinx does not watch
        self.content = StringList(list(lines()), source="labelsieve study")
        return self.parse_content_to_nodes()


def setup(app):
    app.add_directive("published-studies", PublishedStudies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
