python3 -m venv generator
generator/bin/pip install openapi-generator-cli==7.26.0
generator/bin/openapi-generator-cli generate -i $DOCUMENT -g java --library native -o client
mvn -q -f client package -Dmaven.test.skip=true
