import type { FastifyReply, FastifyRequest } from 'fastify'
import { makeSecret, sha256 } from '../../kit/index.ts'
import { maxSessionMs } from './session.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The cookies of the pages. */
export interface Cookies {
  /** Returns the session cookie; undefined if missing or malformed. */
  session(request: FastifyRequest): string | undefined
  setSession(reply: FastifyReply, value: string): void
  clearSession(reply: FastifyReply): void
  /** Returns the cookie to which forms are bound. */
  form(request: FastifyRequest): string | undefined
  /** Returns the form cookie, and sets a new one if the browser has none. */
  ensureForm(request: FastifyRequest, reply: FastifyReply): string
  /** Returns what tells a page why its form was refused. */
  notice(request: FastifyRequest): string | undefined
  setNotice(reply: FastifyReply, value: string): void
  clearNotice(reply: FastifyReply): void
}

const secret = /^[\w-]{43}$/
/** Longer than it takes to follow a redirect. */
const noticeSeconds = 60

/**
 * Scripts cannot read the cookies, and forms of other sites do not send them. With https they get a prefix that allows
 * only this host to set them (RFC 6265bis §4.1.3.2); it excludes a path. The notice, which is signed, is sent to the
 * pages only.
 * @param base the path of the issuer, or empty
 */
export function makeCookies(isHttps: boolean, base: string): Cookies {
  const prefix = isHttps ? '__Host-' : ''
  const [sessionName, formName] = [`${prefix}waypost-session`, `${prefix}waypost-form`]
  const noticeName = `${isHttps ? '__Secure-' : ''}waypost-notice`
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps } as const
  const noticeOptions = { ...options, path: `${base}/authorization` }
  const read = (request: FastifyRequest, name: string) => {
    const value = request.cookies[name]
    return value !== undefined && secret.test(value) ? value : undefined
  }
  return {
    session: (request) => read(request, sessionName),
    setSession: (reply, value) => void reply.setCookie(sessionName, value, { ...options, maxAge: maxSessionMs / 1000 }),
    clearSession: (reply) => void reply.clearCookie(sessionName, options),
    form: (request) => read(request, formName),
    ensureForm(request, reply) {
      const known = read(request, formName)
      if (known !== undefined) return known
      const value = makeSecret()
      void reply.setCookie(formName, value, options)
      return value
    },
    notice: (request) => request.cookies[noticeName],
    setNotice: (reply, value) => void reply.setCookie(noticeName, value, { ...noticeOptions, maxAge: noticeSeconds }),
    clearNotice: (reply) => void reply.clearCookie(noticeName, noticeOptions),
  }
}

/** The binding of a form. Login forms have no session yet; the others are bound to theirs. */
export interface FormPurpose {
  /** The form cookie of the browser. */
  readonly cookie: string
  /** The session cookie; undefined for a login. */
  readonly session?: string | undefined
}

/**
 * Makes a token against forged forms, which requires the browser's cookies. It also signs what the page showed, so that
 * an answer applies only to that.
 */
export function makeFormToken(purpose: FormPurpose, shown = ''): string {
  return `${sign(purpose.cookie, describe(purpose))}.${sha256(shown)}`
}

export function isFormToken(purpose: FormPurpose, token: string): boolean {
  return isSignature(token.split('.', 1)[0]!, purpose.cookie, describe(purpose))
}

/** Whether the page with this token showed exactly this. */
export function hasShown(token: string, shown: string): boolean {
  return token.slice(token.indexOf('.') + 1) === sha256(shown)
}

function describe({ session = '' }: FormPurpose): string {
  return `form ${session}`
}

/** Signs a text for one browser. @param cookie its form cookie */
export function sign(cookie: string, text: string): string {
  return createHmac('sha256', cookie).update(text).digest('base64url')
}

/** Whether `sign` made this for the same cookie and text. */
export function isSignature(signature: string, cookie: string, text: string): boolean {
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(cookie, text))]
  return given.length === right.length && timingSafeEqual(given, right)
}
