import json
import os
import sys

from open_api_plant_store_client import AuthenticatedClient
from open_api_plant_store_client.api.plants import create_plant
from open_api_plant_store_client.models import NewPlant, Plant

client = AuthenticatedClient(
    base_url=os.environ["PLANT_STORE_BASE_URL"],
    token=os.environ["PLANT_STORE_TOKEN"],
)
plant = NewPlant(id=int(sys.argv[1]), name=sys.argv[2])
if len(sys.argv) > 3:
    plant.tag = sys.argv[3]
answer = create_plant.sync(client=client, body=plant)
if isinstance(answer, Plant):
    print(json.dumps({"stored": answer.to_dict()}))
else:
    print(json.dumps(answer.to_dict()))
