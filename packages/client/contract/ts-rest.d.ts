/** The contract's own build checks it against ts-rest; here only its schemas are checked. */
export type AppRouter = object
