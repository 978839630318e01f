import type { OperationInput } from '../contract/index.ts'
import { encodePathValue, fillPath, isPlainRest } from '../kit/index.ts'

export type OperationAddress = Required<Pick<OperationInput, 'params' | 'query'>>

/**
 * Returns the path and query of an operation that is called within this process.
 * @param path for example `/todo/:todo_id`
 */
export function writeAddress(path: string, { params, query }: OperationAddress): string {
  return writePath(path, params) + writeQuery(query)
}

/** Returns the parameters of a query as texts, as they arrive in a request; a parameter with a list of values is repeated. */
export function listQuery(query: OperationAddress['query']): [name: string, value: string][] {
  return Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  )
}

function writePath(path: string, params: OperationAddress['params']): string {
  return fillPath(path, (name, isRest) => {
    const value = String(params[name] ?? '')
    // A segment of dots would change the path; no parameter can match it over HTTP either.
    const isPossible = isRest ? isPlainRest(value) : value !== '' && value !== '.' && value !== '..'
    if (!isPossible) throw new TypeError(`The path parameter ${name} is not valid`)
    return encodePathValue(value, isRest)
  })
}

function writeQuery(query: OperationAddress['query']): string {
  const pairs = listQuery(query)
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}
