"""The commands of `regard`, one module a topic; `regard.cli` puts them together."""
