# Makes .venv what the lock says; sourced by ./run and ./test, which set `root` first.
#
# environment run|test
#   Creates .venv with a Python of at least 3.11, installs the pinned packages and rlopt itself (in place).
#   Does nothing, and needs no network, when .venv already is what lock, project file and place ask for.
#   Sets `python` to the interpreter of that environment.
#
# launchers
#   Creates .venv-launchers beside it, where the launchers' own parsers read what `rlopt export` writes. Nothing
#   there has what it depends on beyond the lock: no torch, no ray, no vLLM. Needs `python` set; RLOPT_NO_LAUNCHERS=1
#   leaves it out, and the tests that need it say so.

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.14 python; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    echo "rlopt needs Python 3.11 or newer; set PYTHON to its path if it is not on the search path" >&2
    return 1
}

# What the environment depends on. The place counts because an in-place install points at it.
fingerprint() {
    printf '%s %s' "$(cat "$root/requirements.lock" "$root/requirements-test.lock" "$root/pyproject.toml" | cksum)" "$root" |
        cksum | tr ' \t' '--'
}

launchers() {
    [ -z "${RLOPT_NO_LAUNCHERS:-}" ] || return 0
    home="$root/.venv-launchers"
    lock="$root/requirements-launchers.lock"
    print=$(cat "$lock" "$root/scripts/environment.sh" | cksum | tr ' \t' '--')
    if [ -f "$home/rlopt-environment" ] && "$home/bin/python" -c '' 2>/dev/null; then
        read -r made_print <"$home/rlopt-environment"
        [ "$made_print" != "$print" ] || return 0
    fi
    echo "Preparing the launchers' parsers in .venv-launchers (only when their lock has changed) ..." >&2
    rm -rf "$home"
    "$python" -m venv --without-pip "$home" >&2 || return 1
    # Wheels of these two name one Python or one system but hold plain Python: they are taken for one and unpacked.
    plain='^verl==|^openrlhf=='
    mkdir -p "$home"
    grep -Ev "$plain" "$lock" >"$home/installed.txt"
    grep -E "$plain" "$lock" >"$home/unpacked.txt"
    "$python" -m pip --python "$home/bin/python" install -qq --disable-pip-version-check --no-input --no-deps --no-compile \
        -r "$home/installed.txt" || return 1
    quiet_pip --no-deps --no-compile --only-binary=:all: --python-version 3.11 --platform manylinux1_x86_64 \
        --target "$home/unpacked" -r "$home/unpacked.txt" || return 1
    printf '%s\n' "$print" >"$home/rlopt-environment"
}

quiet_pip() {
    "$python" -m pip install -qq --disable-pip-version-check --no-input "$@"
}

environment() {
    wanted=$1
    python="$root/.venv/bin/python"
    stamp="$root/.venv/rlopt-environment"
    print=$(fingerprint)
    if [ -f "$stamp" ] && "$python" -c '' 2>/dev/null; then
        read -r made_print made_for <"$stamp"
        if [ "$made_print" = "$print" ] && { [ "$made_for" = test ] || [ "$made_for" = "$wanted" ]; }; then
            return 0
        fi
    fi
    echo "Preparing the Python environment in .venv (only when the lock has changed) ..." >&2
    rm -f "$stamp"
    if ! "$python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        base=$(find_python) || return 1
        rm -rf "$root/.venv"
        if ! "$base" -m venv "$root/.venv" >&2; then
            rm -rf "$root/.venv"
            echo "$base could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2
            return 1
        fi
    fi
    lock="$root/requirements.lock"
    [ "$wanted" = test ] && lock="$root/requirements-test.lock"
    quiet_pip -r "$lock" || return 1
    quiet_pip --no-deps --no-build-isolation -e "$root" || return 1
    printf '%s %s\n' "$print" "$wanted" >"$stamp"
}
