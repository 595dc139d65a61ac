"""What was recorded: tokens, sites, traces and their files. Needs numpy alone."""
