openapi-generator-cli generate -i $DOCUMENT -g ruby -o client
gem install --conservative --user-install typhoeus
