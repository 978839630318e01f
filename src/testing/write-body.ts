import { isJsonType } from '../kit/index.ts'

/** A body that is sent as it is. */
export type UnchangedBody = FormData | URLSearchParams | Uint8Array | Blob | ReadableStream<Uint8Array> | string

type Headers = Readonly<Record<string, string>>

/** Returns what `fetch` needs to send a body: as it is, as a form with files, or as JSON. */
export function writeBody(
  body: unknown,
  given: Headers = {},
): { readonly body: RequestInit['body'] | undefined; readonly headers: Headers } {
  if (body === undefined) return { body: undefined, headers: given }
  const type = Object.entries(given).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  // `fetch` writes the boundary of a form.
  if (body instanceof FormData || body instanceof URLSearchParams) return { body, headers: given }
  if (isBinary(body)) {
    const own = body instanceof Blob && body.type !== '' ? body.type : 'application/octet-stream'
    return {
      body: body as RequestInit['body'],
      headers: type === undefined ? { 'content-type': own, ...given } : given,
    }
  }
  if (typeof body === 'string' && type !== undefined && !isJsonType(type)) return { body, headers: given }
  if (hasFile(body)) return { body: makeForm(body), headers: given }
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...given } }
}

function isBinary(body: unknown): boolean {
  return body instanceof Blob || body instanceof Uint8Array || body instanceof ReadableStream
}

function hasFile(body: unknown): body is Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null) return false
  return Object.values(body).some((value) => [value].flat().some((one) => one instanceof Blob))
}

/** Writes texts as they are, and other values as JSON. */
function makeForm(body: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    for (const one of [value].flat()) {
      if (one === undefined) continue
      if (one instanceof Blob) form.append(name, one)
      else form.append(name, typeof one === 'string' ? one : JSON.stringify(one))
    }
  }
  return form
}
