"""Sphinx configuration: ``make docs``."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]  # the latter for `leaderboard` and `replications`

project = "labelsieve"
copyright = "the labelsieve developers"
release = metadata.version("labelsieve")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "accessible",
    "dark_images",
    "leaderboard_site",
    "mathml",
    "method_pages",
    "study_pages",
    "surface",
]
exclude_patterns = ["_ext", "_static", "images/*.py"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# Pages are also read as plain Markdown files, so they use few MyST extensions.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
smartquotes = False  # quotes and dashes are those of code
autodoc_typehints = "none"  # docstrings describe the types
numpydoc_show_class_members = False  # autodoc does

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r".*\.py$",
    "within_subsection_order": "gallery_order.RealDataFirst",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,  # builds are reproducible without run times
    "copyfile_regex": r".*\.svg",
}

nitpicky = True  # a reference without a target is a warning

html_theme = "pydata_sphinx_theme"
html_title = "labelsieve"
html_context = {"default_mode": "auto"}  # light or dark as the system
html_static_path = ["_static"]
html_favicon = "_static/logo.svg"
html_css_files = ["labelsieve.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "theory/index": []}  # pages without subpages
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo_dark.svg",
        "text": "labelsieve",
        "alt_text": "",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
