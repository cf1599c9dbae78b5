import { decodeJson, describeProblems, encodeJson, NewPlant } from '@plant-store/contract'

const bytes = new TextEncoder().encode('{"id":9007199254740993,"name":"Fern","colour":"green"}')
const { data, error } = NewPlant.safeParse(decodeJson(bytes))
console.log(error === undefined ? encodeJson(data) : describeProblems(error.issues))

const wrong = NewPlant.safeParse({ id: 1.5 })
console.log(describeProblems(wrong.error?.issues ?? []))
