import { createHmac, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../kit/index.ts'

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
