import { contract, ErrorBody, errorNameOf, errorTable, headerNames } from '@plant-store/contract'

const { method, path, responses } = contract.createPlant
console.log(method, path, headerNames.authorization, Object.keys(responses).length, 'statuses')

const body = ErrorBody.parse({ error: 40003, message: 'the id has other content already' })
console.log(errorNameOf(body.error), errorTable.id_taken.status)
