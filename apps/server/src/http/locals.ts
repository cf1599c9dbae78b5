declare global {
  namespace Express {
    /** What the service knows of a request while it is answered. */
    interface Locals {
      requestId: string
      /** The name of the token that opened the service to this request. */
      tokenName?: string
      /** Why it was refused, by the contract. */
      errorName?: string
      /** Its trace, where it is recorded. */
      traceId?: string
    }
  }
}

export {}
