package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"

	"first/plants"
)

func main() {
	settings := plants.NewConfiguration()
	settings.Servers[0].URL = os.Getenv("PLANT_STORE_BASE_URL")
	settings.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("PLANT_STORE_TOKEN"))

	id, _ := strconv.ParseInt(os.Args[1], 10, 64)
	plant := plants.PlantToCreate{Id: id, Name: os.Args[2], Tag: plants.PtrString("indoor")}
	request := plants.NewAPIClient(settings).PlantsAPI.CreatePlant(context.Background())
	stored, _, err := request.PlantToCreate(plant).Execute()

	var refusal *plants.GenericOpenAPIError
	switch {
	case errors.As(err, &refusal):
		json.NewEncoder(os.Stdout).Encode(refusal.Model())
	case err != nil:
		panic(err)
	default:
		json.NewEncoder(os.Stdout).Encode(map[string]any{"stored": stored})
	}
}
