import os

from open_api_plant_store_client import AuthenticatedClient
from open_api_plant_store_client.api.plants import create_plant
from open_api_plant_store_client.models import NewPlant

client = AuthenticatedClient(
    base_url=os.environ.get("PLANT_STORE_BASE_URL", "http://127.0.0.1:3000"),
    token=os.environ["PLANT_STORE_TOKEN"],
)
plant = NewPlant(id=9223372036854775806, name="Fern", tag="indoor")
print(create_plant.sync(client=client, body=plant))
