curl -fo openapi.json $PLANT_STORE_BASE_URL/openapi-3.0.json
cargo init --name first
cargo add progenitor@=0.15.1 reqwest@=0.13.5
cargo add regress@=0.12.0
cargo add serde@=1.0.229 --features derive
cargo add serde_json@=1.0.154
cargo add tokio@=1.54.1 --features macros,rt-multi-thread
cargo build
