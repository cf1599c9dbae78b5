openapi-generator-cli generate -i $DOCUMENT -g php -o client
composer install --no-interaction
