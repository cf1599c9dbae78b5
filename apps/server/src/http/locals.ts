declare global {
  namespace Express {
    /** What the service knows of a request while it is answered. */
    interface Locals {
      requestId: string
      /** The name of the token that opened the service to this request. */
      tokenName?: string
      /** Its id, which tells it from another of the same name. */
      tokenId?: string
    }
  }
}

export {}
