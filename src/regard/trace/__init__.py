"""What was recorded: tokens, sites, traces and their files. Needs only numpy."""
