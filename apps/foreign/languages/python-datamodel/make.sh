curl -fo openapi.json $DOCUMENT
python3 -m venv here
here/bin/pip install datamodel-code-generator==0.89.0 httpx==0.28.1 pydantic==2.14.3
here/bin/datamodel-codegen --input openapi.json --input-file-type openapi \
  --output plants.py --output-model-type pydantic_v2.BaseModel
