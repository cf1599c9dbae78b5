import os
import sys

import httpx
from plants import Error, NewPlant, Plant

plant = NewPlant(id=int(sys.argv[1]), name=sys.argv[2], tag="indoor")
answer = httpx.post(
    os.environ["PLANT_STORE_BASE_URL"] + "/plants",
    content=plant.model_dump_json(exclude_none=True),
    headers={
        "Authorization": "Bearer " + os.environ["PLANT_STORE_TOKEN"],
        "Content-Type": "application/json",
    },
)
if answer.status_code == 200:
    print('{"stored":', Plant.model_validate_json(answer.content).model_dump_json(), "}")
else:
    print(Error.model_validate_json(answer.content).model_dump_json())
