import type { Operations } from '../../api/operations.ts'
import { sendForAnswer, type Answer as SentAnswer, type Method } from './send.ts'

type Part<Key extends keyof Operations, Name extends string> = Name extends keyof Operations[Key]
  ? { readonly [Own in Name]: Operations[Key][Name] }
  : unknown

export type Input<Key extends keyof Operations> = Part<Key, 'params'> & Part<Key, 'query'> & Part<Key, 'body'>
export type Answer<Key extends keyof Operations> = Operations[Key] extends { response: infer Body } ? Body : undefined
/** An entry of the answer of a list. */
export type Entry<Key extends keyof Operations> = Answer<Key> extends { entry: readonly (infer Row)[] } ? Row : never

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
): Promise<Answer<Key>> {
  return (await callForAnswer(operation, input, { signal })).data
}

/** Like `call`, with the ETag of the answer. @param options `ifMatch` is the ETag that a change is based on */
export async function callForAnswer<Key extends keyof Operations>(
  operation: Key,
  input: Input<Key>,
  options: { readonly signal?: AbortSignal | undefined; readonly ifMatch?: string | undefined } = {},
): Promise<SentAnswer<Answer<Key>>> {
  const { params = {}, query, body } = input as Parts
  const [method, path] = operation.split(' ') as [Method, string]
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  return sendForAnswer<Answer<Key>>(method, filled, { query, body, ...options })
}
