npm init -y
npm install openapi-fetch@0.17.0 openapi-typescript@7.13.0 typescript@5.9.3 @types/node@24.10.1
node make-schema.mjs
npx tsc --outDir built --module node20 --skipLibCheck --strict first-plant.ts
