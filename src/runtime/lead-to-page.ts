import type { FastifyReply, FastifyRequest } from 'fastify'
import { findReservedPath } from '../kit/index.ts'
import { errors } from './errors.ts'

/** What `/` responds with if neither the project nor a plugin has a route there. */
export interface StartPage {
  /** The address of the page that people need first; undefined if there is none. */
  readonly url: string | undefined
  /** Whether there is no API yet. */
  readonly isEmpty: boolean
}

/**
 * Leads people who opened `/` to the start page. Clients that accept no HTML get a problem.
 * @returns whether the request was answered
 */
export function leadToStart(request: FastifyRequest, reply: FastifyReply, { url, isEmpty }: StartPage): boolean {
  if (!isReading(request) || pathOf(request) !== '/') return false
  if (url !== undefined && acceptsPages(request)) {
    void reply.header('vary', 'Accept').redirect(url + queryOf(request), 302)
    return true
  }
  if (isEmpty) throw errors.WP_RUNTIME_EMPTY()
  return false
}

/**
 * Leads from a path of Waypost with a slash at its end, such as `/docs/`, to the one without it.
 * @param hasPage whether a path can be read with `GET`
 * @returns whether the request was answered
 */
export function leadWithoutSlash(
  request: FastifyRequest,
  reply: FastifyReply,
  hasPage: (path: string) => boolean,
): boolean {
  const path = pathOf(request)
  if (!isReading(request) || !path.endsWith('/') || findReservedPath(path) === undefined) return false
  const page = path.slice(0, -1)
  if (!hasPage(page)) return false
  // Relative, so that it is right below any path under which a proxy serves this server.
  void reply.redirect(`..${page.slice(page.lastIndexOf('/'))}${queryOf(request)}`, 302)
  return true
}

/** The query of a request with its `?`, as it was sent; empty if there is none. */
export function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start)
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?')[0]!
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

function acceptsPages({ headers: { accept } }: FastifyRequest): boolean {
  return accept === undefined || /(^|[,\s])(text\/html|text\/\*|\*\/\*)\s*(;|,|$)/i.test(accept)
}
