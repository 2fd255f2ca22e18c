"""Sphinx's settings for the site. Nothing in it comes from elsewhere: no script, no font, no picture."""

from __future__ import annotations

project = "Attention in matrices"
language = "en"
extensions = ["myst_nb", "sphinx.ext.githubpages", "autograder.authoring.site.formulas"]

nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target", "myst_role"]

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["static"]
html_favicon = "static/icon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_math_renderer = "mathml"
html_theme_options = {
    "home_page_in_toc": True,
    "navbar_persistent": [],
    "footer_content_items": [],
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
}
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
highlight_language = "none"
