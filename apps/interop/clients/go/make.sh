go mod init first
go get -tool github.com/ogen-go/ogen/cmd/ogen@v1.24.0
go tool ogen -target plants -package plants $DOCUMENT
go mod tidy
go build
