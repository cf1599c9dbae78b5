java -cp 'client/target/classes:client/target/lib/*' FirstPlant.java "$@"
