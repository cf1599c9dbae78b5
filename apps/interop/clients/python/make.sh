python3 -m venv here
here/bin/pip install openapi-python-client==0.29.1
here/bin/openapi-python-client generate --url $DOCUMENT --meta setup --output-path client
here/bin/pip install ./client
