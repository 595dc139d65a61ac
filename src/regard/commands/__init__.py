"""The commands of `regard`, one module per topic; `regard.cli` puts them together."""
