java -cp 'target/classes:target/dependency/*' FirstPlantKt "$@"
