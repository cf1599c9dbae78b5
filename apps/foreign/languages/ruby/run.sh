ruby -I client/lib first_plant.rb "$@"
