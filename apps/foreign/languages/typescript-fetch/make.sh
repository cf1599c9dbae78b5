openapi-generator-cli generate -i $DOCUMENT -g typescript-fetch -o client
npm install --no-save typescript@5.9.3 @types/node@24.10.1
npx tsc --outDir built --module commonjs --target es2022 --strict --skipLibCheck first-plant.ts
