import type { FastifyReply } from 'fastify'
import { formatDuration, isWaypostError, type WaypostError } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { isSignature, sign } from './cookies.ts'
import type { Visit } from './visit.ts'

/** A page with a form that can be refused, and the query that it was opened with. */
export interface FormPlace {
  readonly page: 'authorize' | 'register' | 'first-run'
  readonly query: string
}

/** What was typed, apart from passwords. */
interface Typed {
  readonly user: string
  /** The code for the first administrator. */
  readonly code?: string
}

/** Why a form was refused. */
export interface Notice extends Typed {
  readonly problem: string
}

/** The errors that a page shows above its form. */
const shown: ReadonlySet<string> = new Set<keyof typeof errors.table>([
  'WP_AUTH_FORM_EMPTY',
  'WP_AUTH_LOGIN',
  'WP_AUTH_THROTTLED',
  'WP_AUTH_BUSY',
  'WP_AUTH_NAME',
  'WP_AUTH_NAME_TAKEN',
  'WP_AUTH_USER_EXISTS',
  'WP_AUTH_PASSWORD_WEAK',
  'WP_AUTH_PASSWORD_NAME',
  'WP_AUTH_REGISTRATIONS',
  'WP_AUTH_FIRST_RUN_CODE',
  'WP_AUTH_FIRST_RUN_DONE',
  'WP_AUTH_FIRST_RUN_RATE',
])

/** Longer than a valid name or code, and short enough for a cookie. */
const maxTypedLength = 128

/**
 * Redirects the browser from a refused form to its page, so that neither going back nor loading again sends the form
 * once more. A cookie tells the page why: it contains the code of the error, not its text.
 * @throws the error, if it is not about what was typed
 */
export function refuseForm(visit: Visit, place: FormPlace, error: unknown, typed: Typed): FastifyReply {
  const { base, cookies, request, reply } = visit
  const form = cookies.form(request)
  if (!isWaypostError(error) || !shown.has(error.code) || form === undefined) throw error
  const fields = new URLSearchParams({
    error: error.code,
    wait: String(error.retryAfterSeconds ?? ''),
    user: typed.user.slice(0, maxTypedLength),
    code: (typed.code ?? '').slice(0, maxTypedLength),
  })
  const content = Buffer.from(fields.toString()).toString('base64url')
  cookies.setNotice(reply, `${content}.${sign(form, describe(place, content))}`)
  const query = place.query === '' ? '' : `?${place.query}`
  return reply.redirect(`${base}/authorization/${place.page}${query}`, 303)
}

/**
 * Returns why the form of this page was refused, once. The response then has the status of the error and its
 * `Retry-After`.
 */
export function takeNotice({ cookies, request, reply }: Visit, place: FormPlace): Notice | undefined {
  const form = cookies.form(request)
  const [content = '', signature = ''] = cookies.notice(request)?.split('.') ?? []
  if (form === undefined || !isSignature(signature, form, describe(place, content))) return undefined
  cookies.clearNotice(reply)
  const fields = new URLSearchParams(Buffer.from(content, 'base64url').toString())
  const [user, code] = [fields.get('user') ?? '', fields.get('code') ?? '']
  const error = makeError(fields.get('error') ?? '', { user, seconds: Math.ceil(Number(fields.get('wait'))) })
  if (error === undefined) return undefined
  reply.code(error.status)
  if (error.status === 429) reply.header('retry-after', String(error.retryAfterSeconds))
  const sentences = [error.message, error.hint].filter((text) => text !== undefined)
  return { problem: sentences.map((text) => text.replace(/\.?$/, '.')).join(' '), user, code }
}

function makeError(code: string, { user, seconds }: { user: string; seconds: number }): WaypostError | undefined {
  if (!shown.has(code)) return undefined
  const make = errors[code as 'WP_AUTH_THROTTLED'] as (
    parameters: Readonly<Record<string, string>>,
    details: { readonly retryAfterSeconds: number },
  ) => WaypostError
  const retryAfterSeconds = seconds >= 1 && seconds <= 86_400 ? seconds : 1
  return make({ name: user, wait: formatDuration(retryAfterSeconds * 1000) }, { retryAfterSeconds })
}

/** Binds a notice to its page: another tab with another request does not show it. */
function describe({ page, query }: FormPlace, content: string): string {
  return `notice ${page} ${query} ${content}`
}
