import { Problem, send, type Method } from '../api/send.ts'
import { readUris } from '../components/redirect-uris.tsx'
import { formTexts as texts } from './access-texts.ts'

const maxUris = 20

interface FormRules {
  /** The field that a problem is about, by its code. */
  readonly codes?: Readonly<Record<string, string>>
  /** What to say at fields whose values do not fit. */
  readonly texts?: Readonly<Record<string, string>>
}

/** Sends a form. Problems are shown at the field that they are about. @throws Problem */
export async function sendForm<Value>(
  method: Method,
  path: string,
  body: unknown,
  { codes = {}, texts = {} }: FormRules,
): Promise<Value> {
  try {
    return await send<Value>(method, path, { body })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const field = codes[error.code]
    const found =
      field === undefined
        ? error.fields.map(({ pointer, message }) => {
            const name = pointer.split('/')[1] ?? ''
            return { pointer: `/${name}`, message: texts[name] ?? message }
          })
        : [{ pointer: `/${field}`, message: [error.message, error.hint].filter(Boolean).join('. ') }]
    throw new Problem(error.status, { ...error.body, errors: found })
  }
}

/** Checks fields before they are sent. @param problems what is wrong, by the names of fields @throws Problem */
export function assertFields(problems: Readonly<Record<string, string | false>>): void {
  const errors = Object.entries(problems).flatMap(([name, message]) =>
    message === false ? [] : [{ pointer: `/${name}`, message }],
  )
  if (errors.length > 0) throw new Problem(400, { detail: errors[0]!.message, errors })
}

/** What the forms of clients have in common. */
export const clientRules = {
  codes: {
    WP_AUTH_CLIENT_NAME: 'name',
    WP_AUTH_REDIRECT_URI: 'redirect_uris',
    WP_AUTH_REDIRECT_URIS: 'redirect_uris',
    WP_AUTH_SCOPE_NOT_CARRIED: 'scopes',
  },
  texts: { name: texts.name, scopes: texts.scopes },
} satisfies FormRules

export function urisProblem(text: string): string | false {
  const { length } = readUris(text)
  return (length === 0 && texts.redirectUris) || (length > maxUris && texts.manyUris)
}
