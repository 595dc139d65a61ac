"""What everything else stands on: sentences for users, files written atomically, packages that may be missing."""
