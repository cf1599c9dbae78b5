openapi-generator-cli generate -i $DOCUMENT -g rust -o client
cargo init --name first
cargo add openapi --path client
cargo add tokio@=1.54.1 --features macros,rt-multi-thread
cargo add serde_json@=1.0.154
cargo build
