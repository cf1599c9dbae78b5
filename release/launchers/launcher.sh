#!/bin/sh
# Starts {command} {version} with the Node.js beside it, from any folder and through links.
file=$0
while [ -L "$file" ]; do
  target=$(readlink "$file")
  case $target in
    /*) file=$target ;;
    *) file=${file%/*}/$target ;;
  esac
done
lib=${file%/*}/lib
# A machine of another kind, or without glibc, cannot start it at all.
if ! "$lib/node/node" --version >/dev/null 2>&1; then
  printf '%s: the Node.js for %s does not start on this machine, which is %s. Try: the package for npm\n' \
    '{command}' '{platform}' "$(uname -sm)" >&2
  exit 78
fi
exec "$lib/node/node" "$lib/{program}/main.js" "$@"
