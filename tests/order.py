"""Which tests take long, so that they begin first, and which are slow, so that a quick run leaves them out."""

# The files that take longest, longest first: workers that end with a long one would end far apart. The sweep, which
# keeps two cores busy by itself, does not begin beside the cluster.
LONG = (
    *("browser/test_app.py", "studies/test_ray.py", "browser/test_walk_decoders.py", "fidelity/test_sweep.py"),
    *("browser/test_notebook.py", "browser/test_walk_t5.py", "studies/test_probe.py", "browser/test_walk_page.py"),
    *("examples/test_notebooks.py", "studies/test_coref.py", "studies/test_ablation.py", "browser/test_walk.py"),
    *("browser/test_chat.py", "studies/test_processes.py", "views/test_odd_texts.py", "browser/test_views.py"),
    *("studies/test_syntax.py", "studies/test_heads_folder.py", "package/test_build.py", "browser/test_stage.py"),
    *("package/test_optimised.py", "browser/test_worth.py", "studies/test_probe_parts.py", "studies/test_heads.py"),
    *("commands/test_cli.py", "studies/test_resume.py", "browser/test_says.py", "studies/test_identity.py"),
    *("browser/test_looks.py", "studies/test_probe_training.py", "studies/test_syntax_by_hand.py"),
    *("studies/test_probe_features.py", "browser/test_never_blank.py", "app/test_running.py", "app/test_serving.py"),
    *("studies/test_find.py", "browser/test_report.py", "browser/test_history.py", "docs/test_site.py"),
    *("browser/test_heads.py", "studies/test_controls.py", "docs/test_tutorial.py"),
)
# What `make test-quick` leaves out beside these and tests that are marked slow themselves: a browser, real models,
# corpora, clusters, environments, servers, processes that import torch, threads that wait, draws in their hundreds,
# training, folders of figures.
SLOW = (
    *(*LONG, "browser/", "fidelity/", "docs/", "app/test_fuzz.py", "app/test_connections.py", "models/test_hub.py"),
    *("commands/test_background.py", "studies/test_figures.py", "studies/test_article.py"),
    *("app/test_long.py", "app/test_openai.py", "app/test_security.py", "app/test_rules.py", "app/test_models.py"),
    *("app/test_limits.py", "commands/test_chat.py", "capture/test_threads.py", "views/test_figures.py"),
    *("studies/test_matching.py", "studies/test_nearest.py", "studies/test_retrieval.py", "studies/test_sinks.py"),
    *("studies/test_sums.py", "studies/test_intervals.py", "transformer/test_bert_training.py"),
)
SLOW_MARKS = ("models", "corpora", "ray", "browser")
REAL = {"minilm", "smollm", "rxnmapper", "corpora", "labelled"}  # fixtures of real models, texts and maps
