"""Sphinx for the documentation site. scripts/docs/build puts the pages together and calls it."""

project = "Shakedown"
author = "the Shakedown developers"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = "Shakedown"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["site.css"]
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []
highlight_language = "none"
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # a block may be an excerpt, which no lexer accepts whole
