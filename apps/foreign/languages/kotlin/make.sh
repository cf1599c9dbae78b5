openapi-generator-cli generate -i $DOCUMENT -g kotlin -o client
mvn -q package
