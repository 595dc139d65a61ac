"""`regard serve`, and plain `regard`: the app in the browser.

Enters: where to listen, which models. Leaves: a server, until it is stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.commands.shared import err, out

Given = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        help="Hub name, folder or .gguf file; repeat for several models.",
        show_default="the built-in all-MiniLM-L6-v2",
    ),
]


def serve(  # long because of its options and their descriptions
    model: Given = None,
    port: Annotated[
        int | None,
        typer.Option(
            help="Port to listen on; 0 picks any free one.", min=0, max=65535, show_default="8765, or the next free"
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 admits other machines that have the token.")
    ] = "127.0.0.1",
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token", help="Admit everyone who can reach the address, including other users of this machine."
        ),
    ] = False,
    studies: Annotated[
        Path | None,
        typer.Option(
            help="Folder with saved studies, and for those that the page starts.", exists=True, file_okay=False
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")] = False,
    allow_download: Annotated[
        bool, typer.Option("--allow-download", help="Let the page load any model by name or folder.")
    ] = False,
    allowed_host: Annotated[
        list[str] | None, typer.Option("--allowed-host", help="Another host name under which the page can be reached.")
    ] = None,
    save_rules: Annotated[
        bool | None,
        typer.Option(
            "--save-rules/--no-save-rules",
            help="Let the page save rules in your file of rules.",
            show_default="only if no other machine is admitted",
        ),
    ] = None,
    openai: Annotated[
        bool,
        typer.Option(
            "--openai",
            help="Also answer clients of the OpenAI API under /v1: each answer has a link to its views.",
        ),
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Do not contact the hub; use local files only.")] = False,
    device: Annotated[str | None, typer.Option(help="Device to run on: cpu, cuda, mps.")] = None,
    log: Annotated[Path | None, typer.Option(help="Log file (JSON lines).", show_default="standard error")] = None,
) -> None:
    """Open the app in the browser: type a sentence and see what the heads do."""
    from regard.app.log import set_up
    from regard.app.run import serve as run
    from regard.app.settings import AppSettings

    set_up(log, quiet=log is None and err.is_terminal)
    settings = AppSettings(
        host=host,
        models=tuple(model or ()),
        studies=studies,
        download=allow_download,
        offline=offline,
        device=device,
        names=tuple(allowed_host or ()),
        save_rules=save_rules,
        openai=openai,
    )
    run(settings, port=port, browser=not no_browser, token=not no_token, say=_say_openai if openai else _say)


def _say(address: str) -> None:
    out.print(f"regard is at [bold]{address}[/bold]  (stop it with Ctrl-C)", soft_wrap=True)


def _say_openai(address: str) -> None:
    _say(address)
    place, _, token = address.partition("?token=")
    out.print(f"OpenAI API: base_url={place}v1 api_key={token or 'any'}", soft_wrap=True)
