"""The reference page says what the functions say."""

from regard import measures

from .write_page import PAGE, page


def test_the_reference_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.measures.write_page"


def test_every_measure_names_its_source():
    for name in measures.__all__:
        if name[0].islower() and name not in {"lift", "read"}:
            assert "Source: " in getattr(measures, name).__doc__, name


def test_the_examples_run():
    import doctest

    from regard.measures import reading
    from regard.patterns import findings

    for module in (reading, findings):
        assert doctest.testmod(module).failed == 0
