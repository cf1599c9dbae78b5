#!/bin/sh
# Starts {program} {version} with the Node.js beside it, from any folder and through links.
refuse() {
  printf '%s: %s\n' '{program}' "$1" >&2
  exit 78
}

case $(uname -sm) in
  'Linux x86_64') machine=linux-x64 ;;
  'Linux aarch64' | 'Linux arm64') machine=linux-arm64 ;;
  Darwin*)
    machine=
    # In a shell that Apple translates, `uname` names the other processor.
    [ "$(/usr/sbin/sysctl -n hw.optional.arm64 2>/dev/null)" != 1 ] || machine=darwin-arm64
    ;;
  *) machine= ;;
esac
other='{package} from npm, with Node.js {oldestNode} or newer'
if [ "$machine" != {platform} ]; then
  [ -z "$machine" ] || other="plant-store-{version}-$machine.tar.gz"
  refuse "this is the program for {platform}, and this machine is $(uname -sm). Try: $other"
fi

case $0 in
  */*) PLANT_STORE_STARTED_AS=$0 ;;
  *) PLANT_STORE_STARTED_AS=./$0 ;;
esac
export PLANT_STORE_STARTED_AS

file=$PLANT_STORE_STARTED_AS
while [ -L "$file" ]; do
  target=$(readlink "$file")
  case $target in
    /*) file=$target ;;
    *) file=${file%/*}/$target ;;
  esac
done
lib=${file%/*}/lib
node=$lib/node/node

if [ -n '{loader}' ]; then
  [ -e '{loader}' ] ||
    refuse "this program needs glibc, which this system lacks. Try: $other, or Debian, Ubuntu or Fedora"
  # Makes the loader list what it loads, in some milliseconds; `--version` is for loaders that cannot.
  found=$(LD_TRACE_LOADED_OBJECTS=1 "$node" --version 2>&1)
  case $found in
    *' => not found'*)
      library=${found%% => not found*}
      refuse "this system lacks the library ${library##*[[:space:]]}. Try: apt-get install libstdc++6, or dnf install libstdc++"
      ;;
    *'not found'*) refuse "the glibc of this system is older than 2.28. Try: $other" ;;
  esac
fi

exec "$node" "$lib/{folder}/main.js" "$@"
