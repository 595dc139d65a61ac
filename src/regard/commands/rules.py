"""`regard rules`: rules that are saved under a name, and count as patterns from then on.

Enters: names and rules. Leaves: the file of saved rules; a list of them.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from regard.commands.shared import Json, out

app = typer.Typer(
    help="Rules saved under a name: patterns of your own, in every view, table and study of what heads do.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(help="Letters, digits and spaces, such as 'two back'.", show_default=False)]


@app.command()
def add(
    name: Name,
    rule: Annotated[str, typer.Argument(help="As in regard find, in quotes.", show_default=False)],
) -> None:
    """Save a rule: `regard rules add 'two back' 'offset = -2'`. One of the same name is replaced."""
    from regard.patterns.saved import add_rule, rules_file

    kept = add_rule(name, rule)
    out.print(f"{kept.name}: {kept.text}\nsaved in {rules_file()}", markup=False, highlight=False, soft_wrap=True)


@app.command("list")
def listed(*, as_json: Json = False) -> None:
    """Print the saved rules."""
    from rich.text import Text

    from regard.patterns.saved import rules_file, saved_rules

    rules = saved_rules()
    if as_json:
        out.print_json(json.dumps({"file": str(rules_file()), "rules": [rule.record for rule in rules]}))
        return
    if not rules:
        out.print(
            f"No rule is saved in {rules_file()}; save one with: regard rules add NAME RULE",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    for rule in rules:
        needs = "  (needs a treebank)" if rule.needs_trees else ""
        out.print(Text.assemble(("█ ", rule.colour), f"{rule.name}: {rule.text}{needs}"), soft_wrap=True)


@app.command()
def remove(name: Name) -> None:
    """Forget a rule."""
    from regard.patterns.saved import remove_rule

    gone = remove_rule(name)
    out.print(f"removed {gone.name}: {gone.text}", markup=False, highlight=False, soft_wrap=True)
