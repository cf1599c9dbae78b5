python3 -m venv generator && . generator/bin/activate
pip install openapi-generator-cli==7.26.0
