here/bin/python first_plant.py "$@"
