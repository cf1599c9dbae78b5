php first_plant.php "$@"
