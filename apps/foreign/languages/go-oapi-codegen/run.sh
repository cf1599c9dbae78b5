./first "$@"
