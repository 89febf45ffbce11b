"""Writes promptfoo.json beside it; needs Node.js 20 and promptfoo 0.120.0 in node_modules of the working directory."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from without_paths import without_paths

HERE = Path(__file__).parent
PROVIDER = """
module.exports = class {
  id() { return "tiny"; }
  async callApi(prompt) {
    if (prompt.includes("France")) throw new Error("server went away");
    return { output: "4, of course" };
  }
};
"""
CONFIG = {
    "prompts": ["Question: {{question}}", "Please answer: {{question}}"],
    "providers": [{"id": "file://tiny.js", "label": "tiny"}],
    "tests": [
        {
            "vars": {"question": "What is 2 + 2?", "reference": "4"},
            "assert": [{"type": "contains", "value": "{{reference}}", "metric": "has"}],
            "metadata": {"topic": "maths"},
        },
        {
            "vars": {"question": "What is the capital of France?"},
            "assert": [{"type": "icontains", "value": "paris"}],
        },
    ],
}

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "tiny.js").write_text(PROVIDER)
    (folder / "config.yaml").write_text(json.dumps(CONFIG))
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": name}
    command = ["npx", "promptfoo", "eval", "-c", str(folder / "config.yaml"), "-o", str(folder / "output.json")]
    subprocess.run([*command, "--no-cache", "--no-table"], check=False, env=os.environ | quiet)
    (HERE / "promptfoo.json").write_bytes(without_paths((folder / "output.json").read_bytes()))
