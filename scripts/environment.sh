# Sourced by the other scripts: sets `python` to the interpreter that everything is installed into and run with.
# That is, in this order: $RELAYBENCH_PYTHON, the active virtual environment, the active conda environment (not base),
# and .venv in the repository, which is made when it is not there.

newest_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "no Python 3.11 or newer found; install one, or name it: RELAYBENCH_PYTHON=/path/to/python $0" >&2
    return 2
}

make_venv() {
    local base
    base=$(newest_python) || exit 2
    echo "Making $root/.venv with $("$base" --version)"
    if ! "$base" -m venv "$root/.venv"; then
        echo "$base cannot make a virtual environment; install its venv module (Debian: apt-get install python3-venv)" >&2
        exit 2
    fi
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -n "${RELAYBENCH_PYTHON:-}" ]; then
    python=$RELAYBENCH_PYTHON
elif [ -n "${VIRTUAL_ENV:-}" ]; then
    python=$VIRTUAL_ENV/bin/python
elif [ -n "${CONDA_PREFIX:-}" ] && [ "${CONDA_DEFAULT_ENV:-base}" != base ]; then
    python=$CONDA_PREFIX/bin/python
else
    python=$root/.venv/bin/python
    [ -x "$python" ] || make_venv
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "$python is no Python 3.11 or newer; activate another environment, or deactivate it to have .venv made" >&2
    exit 2
fi
