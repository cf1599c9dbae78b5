openapi-generator-cli generate -i $DOCUMENT -g typescript-fetch -o client \
  --type-mappings long=bigint --language-specific-primitives bigint
npm init -y
npm install typescript@5.9.3 @types/node@24.10.1
npx tsc --outDir built --module node20 --skipLibCheck --strict first-plant.ts
