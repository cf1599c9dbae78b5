node built/first-plant.js "$@"
