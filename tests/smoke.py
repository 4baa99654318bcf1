"""What an installed quia must do where nothing but its own dependencies is; `make dist` and the release run it."""

import shutil
import subprocess
import sys
from importlib.metadata import files, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import quia

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def main() -> None:
    installed = Path(quia.__file__).parent
    assert "site-packages" in str(installed), f"{installed} is the source, not what was installed"
    assert quia.__version__ == version("quia")
    shipped = files("quia") or ()
    assert any(file.name == "py.typed" for file in shipped)
    assert not any("bench" in str(file) for file in shipped), "benchmarks are for the repository"

    graph = quia.load(EXAMPLES / "admissions.json")
    applicant = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    why = quia.explain(graph, applicant)
    reasons = [set(reason.features) for reason in why.sufficient_reasons()]
    assert reasons == [{"Essay", "Interview"}, {"SAT", "GPA", "Interview"}], reasons
    for reason in why.sufficient_reasons():
        quia.verify(graph, applicant, reason, "sufficient")

    script = shutil.which("quia", path=str(Path(sys.executable).parent)) or "quia"
    for command in ([script], [sys.executable, "-m", "quia"]):
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
        assert said.strip() == f"quia {quia.__version__}", said
        subprocess.run([*command, "check", str(EXAMPLES / "iris.json")], check=True)
        with TemporaryDirectory() as folder:  # what a stranger does first
            subprocess.run([*command, "examples"], cwd=folder, check=True)
            asked = ["explain", "examples/loan.json", "--data", "examples/loans.csv", "--row", "5"]
            told = subprocess.run([*command, *asked], cwd=folder, capture_output=True, text=True, check=True).stdout
            assert "Decision: deny" in told, told
    if find_spec("pyarrow") is None:  # an extra that is not there says how to get it
        try:
            quia.explain_batch(graph, [applicant])
        except quia.Unsupported as fault:
            advice = str(fault)
        assert "pip install 'quia[arrow]'" in advice
    print(f"quia {quia.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
