import { writeFileSync } from 'node:fs'
import makeTypes, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const types = await makeTypes(new URL(process.env.DOCUMENT), {
  transform: ({ format }) => (format === 'int64' ? bigint : undefined),
})
writeFileSync('schema.ts', astToString(types))
