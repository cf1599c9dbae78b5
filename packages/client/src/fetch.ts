/** The parts of a response that the client reads; every Response has them. */
export interface FetchedResponse extends Pick<Response, 'status' | 'arrayBuffer'> {
  /** The headers, which node-fetch makes by itself. */
  readonly headers: { forEach(callback: (value: string, name: string) => void): void }
  /** A ReadableStream is read as it arrives, up to a limit; of anything else `arrayBuffer` is taken. */
  readonly body?: unknown
}

/**
 * The part of fetch that the client uses. The global fetch is one in every runtime, and so are those
 * of undici and node-fetch, and a function that calls one of them.
 */
export type PlantStoreFetch = (
  url: string,
  init: {
    /** The method of the operation. */
    readonly method: string
    /** Every header to send, its name in lower case. */
    readonly headers: Record<string, string>
    /** The plant as JSON. */
    readonly body: string
    /** Aborted when the request is out of time, or the call ends. */
    readonly signal: AbortSignal
    /** A redirect is not followed: the token is for one server. */
    readonly redirect: 'manual'
  },
) => Promise<FetchedResponse>

/** Headers of the runtime, whoever made them; only lines that are wanted. */
export function copyHeaders(
  headers: FetchedResponse['headers'],
  isWanted: (line: string) => boolean = () => true,
): Headers {
  const copy = new Headers()
  headers.forEach((value, name) => {
    if (isWanted(`${name}: ${value}`)) copy.append(name, value)
  })
  return copy
}
