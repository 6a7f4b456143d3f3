"""`bench completion`: what a shell needs to complete commands, options and file names."""

from __future__ import annotations

import click

from .saying import obey


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script by which SHELL completes commands, options and file names; write it to where the shell looks for such scripts.

    bash, in ~/.bashrc: eval "$(bench completion bash)". zsh, in ~/.zshrc after compinit: eval "$(bench completion zsh)".
    fish: bench completion fish > ~/.config/fish/completions/bench.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"click completes nothing in {shell}")
    root = context.find_root()
    obey(found(root.command, {}, "bench", "_BENCH_COMPLETE").source())
