import type { RequestHandler } from 'express'
import { pathOf } from './target.ts'

/** The paths that are read without a credential, to the letter. */
export type PublicPaths = ReadonlySet<string>

/** Whether a request target names one of the paths; a query changes nothing. */
export function isPublicTarget(publicPaths: PublicPaths, target: string): boolean {
  return target !== '/plants' && publicPaths.has(pathOf(target))
}

/**
 * Lets requests for public paths pass by a check. One function around it instead of a layer before
 * it: a create pays for the comparison of a string.
 */
export function exceptAt(publicPaths: PublicPaths, check: RequestHandler): RequestHandler {
  return (request, response, next) => {
    return isPublicTarget(publicPaths, request.url) ? next() : check(request, response, next)
  }
}
