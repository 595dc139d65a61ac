"""Write docs/reference/tables.md from what studies write about a tiny model.

python -m tests.studies.write_tables
"""

import os
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    os.environ["REGARD_WRITE_TABLES"] = "1"
    sys.exit(pytest.main([str(Path(__file__).with_name("test_tables_page.py"))]))
