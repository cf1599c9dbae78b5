package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"

	"first/plants"
)

type token string

func (t token) BearerAuth(context.Context, plants.OperationName) (plants.BearerAuth, error) {
	return plants.BearerAuth{Token: string(t)}, nil
}

func main() {
	address := os.Getenv("PLANT_STORE_BASE_URL")
	client, err := plants.NewClient(address, token(os.Getenv("PLANT_STORE_TOKEN")))
	if err != nil {
		panic(err)
	}

	id, _ := strconv.ParseInt(os.Args[1], 10, 64)
	plant := plants.NewPlant{ID: id, Name: os.Args[2]}
	if len(os.Args) > 3 {
		plant.Tag = plants.NewOptString(os.Args[3])
	}
	answer, err := client.CreatePlant(context.Background(), &plant)
	if err != nil {
		panic(err)
	}
	switch answer := answer.(type) {
	case *plants.PlantHeaders:
		json.NewEncoder(os.Stdout).Encode(map[string]any{"stored": &answer.Response})
	case *plants.CreatePlantBadRequest:
		json.NewEncoder(os.Stdout).Encode(&answer.Response)
	case *plants.CreatePlantUnauthorizedHeaders:
		json.NewEncoder(os.Stdout).Encode(&answer.Response)
	}
}
