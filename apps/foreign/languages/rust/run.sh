target/debug/first "$@"
