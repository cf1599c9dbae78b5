openapi-generator-cli generate -i $DOCUMENT -g go -o plants --package-name plants \
  --model-name-mappings NewPlant=PlantToCreate \
  --additional-properties withGoMod=false,disallowAdditionalPropertiesIfNotPresent=false
go mod init first
go build
