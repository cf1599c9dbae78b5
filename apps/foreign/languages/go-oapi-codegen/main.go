package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strconv"

	"first/plants"
)

func signIn(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLANT_STORE_TOKEN"))
	return nil
}

func main() {
	address := os.Getenv("PLANT_STORE_BASE_URL")
	client, err := plants.NewClientWithResponses(address, plants.WithRequestEditorFn(signIn))
	if err != nil {
		panic(err)
	}

	id, _ := strconv.ParseInt(os.Args[1], 10, 64)
	tag := "indoor"
	plant := plants.NewPlant{Id: id, Name: os.Args[2], Tag: &tag}
	answer, err := client.CreatePlantWithResponse(context.Background(), plant)
	if err != nil {
		panic(err)
	}
	if answer.JSON200 != nil {
		json.NewEncoder(os.Stdout).Encode(map[string]any{"stored": answer.JSON200})
		return
	}
	var refusal plants.Error
	if err := json.Unmarshal(answer.Body, &refusal); err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(refusal)
}
