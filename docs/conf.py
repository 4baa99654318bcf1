"""Sphinx: how the site is built. `make docs` does, and takes every warning for an error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import quia

project = "quia"
author = copyright = "The quia authors"
release = version = quia.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

# Docstrings put names in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "quia"
html_static_path = ["_static"]
html_css_files = ["quia.css"]
html_extra_path = ["schemas"]
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#1d6a7c", "color-brand-content": "#1d6a7c"},
    "dark_css_variables": {"color-brand-primary": "#6cc3d5", "color-brand-content": "#6cc3d5"},
}
pygments_style = "friendly"
