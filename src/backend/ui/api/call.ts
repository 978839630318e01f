import type { Operations } from '../../api/operations.ts'
import { sendWithEtag, type WithEtag, type Method } from './send.ts'

type Part<Key extends keyof Operations, Name extends string> = Name extends keyof Operations[Key]
  ? { readonly [Own in Name]: Operations[Key][Name] }
  : unknown

export type Input<Key extends keyof Operations> = Part<Key, 'params'> & Part<Key, 'query'> & Part<Key, 'body'>
export type ResponseOf<Key extends keyof Operations> = Operations[Key] extends { response: infer Body }
  ? Body
  : undefined
/** An entry of the response of a list. */
export type Entry<Key extends keyof Operations> =
  ResponseOf<Key> extends { entry: readonly (infer Row)[] } ? Row : never

interface Parts {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** Calls an operation of the admin API: `call('GET /release/:id', { params: { id } })`. @throws the errors of `send` */
export async function call<Key extends keyof Operations>(
  operation: Key,
  input: Input<Key>,
  signal?: AbortSignal,
): Promise<ResponseOf<Key>> {
  return (await callWithEtag(operation, input, { signal })).data
}

/** Like `call`, with the ETag of the response. @param options `ifMatch` is the ETag that a change is based on */
export async function callWithEtag<Key extends keyof Operations>(
  operation: Key,
  input: Input<Key>,
  options: { readonly signal?: AbortSignal | undefined; readonly ifMatch?: string | undefined } = {},
): Promise<WithEtag<ResponseOf<Key>>> {
  const { params = {}, query, body } = input as Parts
  const [method, path] = operation.split(' ') as [Method, string]
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  return sendWithEtag<ResponseOf<Key>>(method, filled, { query, body, ...options })
}
