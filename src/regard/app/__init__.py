"""The web application: a thin server in front of models, traces and studies. docs/reference/app.md is its contract."""
