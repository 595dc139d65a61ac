"""Which tests take long, so that they begin first, and which are slow, so that a quick run leaves them out."""

# The files that take longest, longest first: workers that end with a long one would end far apart. The sweep does not
# begin beside the cluster.
LONG = (
    *("browser/test_app.py", "studies/test_ray.py", "browser/test_walk_decoders.py", "browser/test_looks.py"),
    *("browser/test_notebook.py", "browser/test_walk_t5.py", "fidelity/test_sweep.py", "studies/test_probe.py"),
    *("studies/test_coref.py", "browser/test_walk_page.py", "package/test_build.py", "browser/test_media.py"),
    *("studies/test_probe_parts.py", "browser/test_walk.py", "examples/test_notebooks.py", "views/test_figures.py"),
    *("views/test_odd_texts.py", "studies/test_ablation.py", "studies/test_probe_features.py", "studies/test_find.py"),
    *("browser/test_views.py", "studies/test_heads_folder.py", "studies/test_syntax.py", "browser/test_evidence.py"),
    *("browser/test_chat.py", "studies/test_processes.py", "browser/test_never_blank.py", "browser/test_stage.py"),
    *("studies/test_heads.py", "browser/test_history.py", "browser/test_worth.py", "app/test_running.py"),
    *("package/test_optimised.py", "commands/test_cli.py", "studies/test_resume.py", "browser/test_says.py"),
    *("studies/test_identity.py", "studies/test_probe_training.py", "studies/test_syntax_by_hand.py"),
    *("app/test_serving.py", "browser/test_report.py", "docs/test_site.py", "browser/test_heads.py"),
    *("studies/test_controls.py", "docs/test_tutorial.py"),
)
# What `make test-quick` leaves out beside these and tests that are marked slow themselves: a browser, real models,
# corpora, clusters, environments, servers, processes that import torch, threads that wait, draws in their hundreds,
# training, folders of figures.
SLOW = (
    *(*LONG, "browser/", "fidelity/", "docs/", "app/test_fuzz.py", "app/test_connections.py", "models/test_hub.py"),
    *("commands/test_background.py", "studies/test_figures.py", "studies/test_article.py"),
    *("app/test_long.py", "app/test_openai.py", "app/test_security.py", "app/test_rules.py", "app/test_models.py"),
    *("app/test_limits.py", "commands/test_chat.py", "capture/test_threads.py"),
    *("studies/test_matching.py", "studies/test_nearest.py", "studies/test_retrieval.py", "studies/test_sinks.py"),
    *("studies/test_sums.py", "studies/test_intervals.py", "transformer/test_bert_training.py"),
)
SLOW_MARKS = ("models", "corpora", "ray", "browser")
REAL = {"minilm", "smollm", "rxnmapper", "ocr", "corpora", "labelled"}  # fixtures of real models, texts and maps
