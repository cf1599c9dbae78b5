npm init -y
npm install orval@8.30.0 typescript@5.9.3 @types/node@24.10.1
npx orval --config orval.config.ts
npx tsc --outDir built --module node20 --skipLibCheck --strict first-plant.ts
