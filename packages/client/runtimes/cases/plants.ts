/** What most cases send; the usual reply names it. */
export const PLANT = { id: 7, name: 'Fern' }

/** Its bytes on the wire. */
export const PLANT_BODY = '{"id":7,"name":"Fern"}'
