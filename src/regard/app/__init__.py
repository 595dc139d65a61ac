"""The web application: a thin server before models, traces and studies. docs/reference/app.md is its contract."""
