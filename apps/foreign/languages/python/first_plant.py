import os
import sys

from openapi_client import ApiClient, ApiException, Configuration, Error, NewPlant, PlantsApi

settings = Configuration(
    host=os.environ["PLANT_STORE_BASE_URL"],
    access_token=os.environ["PLANT_STORE_TOKEN"],
)
plant = NewPlant(id=int(sys.argv[1]), name=sys.argv[2], tag="indoor")
try:
    stored = PlantsApi(ApiClient(settings)).create_plant(plant)
    print('{"stored":', stored.to_json(), "}")
except ApiException as refusal:
    print(refusal.data.to_json())
