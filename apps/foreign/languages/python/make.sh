openapi-generator-cli generate -i $DOCUMENT -g python -o client
python3 -m venv here
here/bin/pip install ./client
