/** What a program of this folder is asked to do with the client that was made. */
export interface Order {
  readonly baseUrl: string
  readonly token: string
  readonly plant: { readonly id: number; readonly name: string; readonly tag?: string }
}

/** What came of it, read through the types of the client that was made. */
export type Outcome =
  | { readonly name: string; readonly tag: string | undefined }
  | { readonly error: number; readonly message: string }
