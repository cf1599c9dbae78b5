npm init -y
npm install @hey-api/openapi-ts@0.99.0 typescript@5.9.3 @types/node@24.10.1
npx openapi-ts -i $DOCUMENT -o plants \
  -p @hey-api/client-fetch @hey-api/typescript @hey-api/sdk @hey-api/transformers
npx tsc --outDir built --module node20 --skipLibCheck --strict first-plant.ts
