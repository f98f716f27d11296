"""docs/extending.md: every block runs, and the three examples work together."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


def test_the_examples_on_the_page_run(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 4
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks))
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1])}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "{'contextflow': [True, True, True], 'mas': [True, True, True]}\n", done.stderr
