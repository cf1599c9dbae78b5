export { contract, SUCCESS_STATUS } from './contract.ts'
export {
  ErrorBody,
  type ErrorName,
  type ErrorStatus,
  errorNameOf,
  errorTable,
} from './error.ts'
export { AUTHORIZATION_SCHEME, headerNames, isRequestId, REPLAYED } from './headers.ts'
export {
  decodeJson,
  encodeJson,
  JsonSyntaxError,
  type JsonValue,
  type JsonWritable,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
} from './json.ts'
export {
  describeProblems,
  INT64_MAX,
  INT64_MIN,
  NewPlant,
  type NewPlantInput,
  Plant,
  type Problem,
} from './plant.ts'
