mkdir plants
go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \
  -generate types,client -package plants -o plants/plants.go $DOCUMENT
go mod init first
go get github.com/oapi-codegen/runtime@v1.8.0
go build
