openapi-generator-cli generate -i $DOCUMENT -g csharp --library httpclient -o client
dotnet publish FirstPlant.csproj -o built
