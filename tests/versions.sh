#!/usr/bin/env bash
# Quick tests with each further Python that pyproject.toml names, and the next: with the lock, but on
# the newest with the newest versions of all libraries. And with the lowest, on the oldest.
# Other Pythons are noticed where arguments, keys and pages are; other libraries in numbers, too.
# Environments are made anew by uv.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=.versions
uv=.venv/bin/uv
surface=(tests/cli tests/problems tests/workflow/test_keys.py tests/explore/test_server.py
  --ignore=tests/cli/test_hostile_arguments.py)
# Without those that measure this machine, and the longest, so that all fits into minutes.
numbers=(tests/questions tests/numerics --ignore=tests/numerics/test_own_functions.py
  --ignore=tests/questions/test_{costs,from_data,optimise,plan,stopping,tasks}.py)
named=$(grep -o 'Python :: 3\.[0-9]*' pyproject.toml | grep -o '3\..*')
oldest=${named%%[[:space:]]*}
newest=$oldest
missing=() failed=()

# environment NAME PYTHON: make one without packages, if this machine has that Python. pyenv shows
# only those that are chosen.
environment() {
  local make=("$uv" venv --quiet --clear --no-python-downloads --python "$2" "$folder/$1")
  "${make[@]}" 2>/dev/null || PYENV_VERSION=$2 "${make[@]}" 2>/dev/null
}

# check NAME TESTS REQUIREMENTS: install these into that environment, then the package, and test it.
check() {
  local -n tests=$2
  local python=$folder/$1/bin/python
  echo "== $1: $("$python" --version)"
  "$uv" pip install --quiet --python "$python" "${@:3}" &&
    "$uv" pip install --quiet --python "$python" --no-deps --editable . &&
    "$python" -m pytest -n logical --dist worksteal "${tests[@]}" || failed+=("$1")
}

own=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
available=()
for version in $named 3.$((${named##*3.} + 1)); do
  if [ "$version" = "$own" ]; then
    newest=$version # `make test` has the lock
  elif environment "lock-$version" "$version"; then
    newest=$version
    available+=("$version")
  else
    missing+=("$version")
  fi
done
for version in "${available[@]}"; do # the newest has the newest libraries, below
  [ "$version" = "$newest" ] ||
    check "lock-$version" surface --require-hashes --requirement requirements.lock
done
wanted=(--requirement pyproject.toml --extra test --extra data)
everything=("${surface[@]}" "${numbers[@]}")
environment newest "$newest"
check newest everything "${wanted[@]}"
environment lowest "$oldest" || { environment lowest "$own"; }
check lowest everything --resolution lowest-direct "${wanted[@]}"

[ ${#missing[@]} = 0 ] || echo "not tested, for want of such a Python on this machine: ${missing[*]}"
[ ${#failed[@]} = 0 ] || { echo "failed with: ${failed[*]}" && exit 1; }
