# Sourced by demo and test: make_env FOLDER EXTRA makes a virtual environment with the package and
# the extra, reuses one that is still fresh, and sets $python to its interpreter.

say() { printf '%s\n' "$*"; }
stop() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

make_env() {
    env=$1 extra=$2
    base=${PYTHON:-python3}
    command -v "$base" >/dev/null 2>&1 ||
        stop "no $base found; install Python 3.10 or newer, or set PYTHON to one."
    "$base" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        stop "$base is $("$base" -V 2>&1); Python 3.10 or newer is needed. Set PYTHON to one."
    # The package is installed in place, so only these decide whether an environment is still good.
    stamp="$("$base" -c 'import sys; print(sys.version, sys.executable)') $extra $(
        cksum "$root/setup.cfg" "$root/pyproject.toml")"
    if [ -f "$env/stamp" ] && [ "$(cat "$env/stamp")" = "$stamp" ]; then
        find_python "$env"
        return
    fi
    say "Making the environment $env (once) ..."
    rm -rf "$env"
    "$base" -m venv "$env" ||
        stop "python -m venv failed; on Debian and Ubuntu: apt install python3-venv"
    find_python "$env"
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip install --quiet --no-compile \
        --editable "$root[$extra]" ||
        stop "pip could not install the package; it needs the network (or a package index set in \
pip's configuration). Nothing but $env was written."
    printf '%s' "$stamp" >"$env/stamp"
}

find_python() {
    python=$1/bin/python
    [ -x "$python" ] || python=$1/Scripts/python.exe
}
