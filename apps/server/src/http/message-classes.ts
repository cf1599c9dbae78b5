import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Classes for Node's HTTP server to make messages of, so that each has Express's prototype from
 * the start. Express sets it on every message, which on any other makes the whole request slower.
 */
export function messageClassesOf(
  app: Express,
): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  app.request = AppRequest.prototype as unknown as Express['request']
  app.response = AppResponse.prototype as unknown as Express['response']
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse } as never
}
