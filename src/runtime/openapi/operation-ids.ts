import { sha256 } from '../../kit/index.ts'

/**
 * The `operationId` of each method, by `METHOD /path`: `getTodo`, `getTodoByTodoId`. They depend on nothing but method
 * and path; where two would be the same, the later one ends with a hash of its own.
 */
export function makeOperationIds(keys: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const ids = new Map<string, string>()
  for (const key of keys.toSorted()) {
    const wanted = makeOperationId(key)
    const id = taken.has(wanted) ? `${wanted}_${sha256(key).slice(0, 6)}` : wanted
    taken.add(id)
    ids.set(key, id)
  }
  return ids
}

function makeOperationId(key: string): string {
  const [method = '', path = ''] = key.split(' ', 2)
  const parts = path.split('/').filter((part) => part !== '')
  const name = parts.map((part) => (part.startsWith(':') ? `By${toPascal(part)}` : toPascal(part))).join('')
  return method.toLowerCase() + (name === '' ? 'Root' : name)
}

function toPascal(part: string): string {
  const words = part.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}
