"""How Sphinx builds the site: `python3 dev.py docs`."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs" / "_ext")]
sys.path.append(str(ROOT / "tests"))  # for the table of differences from TensorFlow

project = "TapeFlow"
copyright = "the TapeFlow authors, Apache-2.0"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "blocks",
    "notebooks",
    "quotes",
    "drawings",
    "charts",
    "reference",
    "differences",
    "findable",
    "links",
    "local",
]
exclude_patterns = ["_ext"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

napoleon_use_ivar = True  # autodoc lists attributes itself
autodoc_typehints = "signature"
autodoc_member_order = "alphabetical"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"  # its fonts are the reader's own, and its scripts lie in the site
html_title = "TapeFlow"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False  # a page's source lacks the output of its programs
html_show_sphinx = False
pygments_style, pygments_dark_style = "friendly", "monokai"
