import type { FastifyReply, FastifyRequest } from 'fastify'
import { makeSecret, sha256 } from '../../kit/index.ts'
import { longestSessionMs } from './session.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The cookies of the pages. */
export interface Cookies {
  /** The session's value; undefined when there is none that could be one. */
  session(request: FastifyRequest): string | undefined
  keepSession(reply: FastifyReply, value: string): void
  dropSession(reply: FastifyReply): void
  /** The value that forms are bound to. */
  form(request: FastifyRequest): string | undefined
  /** The same; a new one for a browser that has none. */
  keepForm(request: FastifyRequest, reply: FastifyReply): string
}

const secret = /^[\w-]{43}$/

/**
 * No script reads them and no other site's form sends them. With https they get a prefix by which browsers see to it
 * that only this very host has set them (RFC 6265bis §4.1.3.2).
 */
export function makeCookies(isHttps: boolean): Cookies {
  const prefix = isHttps ? '__Host-' : ''
  const [sessionName, formName] = [`${prefix}waypost-session`, `${prefix}waypost-form`]
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps } as const
  const read = (request: FastifyRequest, name: string) => {
    const value = request.cookies[name]
    return value !== undefined && secret.test(value) ? value : undefined
  }
  return {
    session: (request) => read(request, sessionName),
    keepSession: (reply, value) =>
      void reply.setCookie(sessionName, value, { ...options, maxAge: longestSessionMs / 1000 }),
    dropSession: (reply) => void reply.clearCookie(sessionName, options),
    form: (request) => read(request, formName),
    keepForm(request, reply) {
      const known = read(request, formName)
      if (known !== undefined) return known
      const value = makeSecret()
      void reply.setCookie(formName, value, options)
      return value
    },
  }
}

/** What a form is for. A login has no session yet; the others are bound to theirs. */
export interface FormPurpose {
  /** Value of the cookie that every form of a browser is bound to. */
  readonly cookie: string
  /** Value of the session's cookie; undefined for a login. */
  readonly session?: string | undefined
}

/**
 * A token against forged forms: nobody who cannot read the browser's cookies can make it. It also says what the page
 * showed, so that an answer is to that and nothing else.
 */
export function makeFormToken(purpose: FormPurpose, shown = ''): string {
  return `${sign(purpose)}.${sha256(shown)}`
}

export function isFormToken(purpose: FormPurpose, token: string): boolean {
  const given = Buffer.from(token.split('.', 1)[0]!)
  const right = Buffer.from(sign(purpose))
  return given.length === right.length && timingSafeEqual(given, right)
}

/** Whether a page with this token showed exactly this. */
export function hasShown(token: string, shown: string): boolean {
  return token.slice(token.indexOf('.') + 1) === sha256(shown)
}

function sign({ cookie, session }: FormPurpose): string {
  return createHmac('sha256', cookie)
    .update(`form ${session ?? ''}`)
    .digest('base64url')
}
