openapi-generator-cli generate -i $DOCUMENT -g java --library native -o client
mvn -q -f client package -Dmaven.test.skip=true
