import { sha256 } from '../../kit/index.ts'

/**
 * Makes the `operationId` of each method, by `METHOD /path`: `getTodo`, `getTodoByTodoId`. An id depends only on method
 * and path. If two would be equal, the later one gets a hash as suffix.
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

/**
 * Names an operation without a description: `Get reviews of books by id` for `GET /books/:book_id/reviews`. A parameter
 * belongs to the segment before it.
 */
export function nameOperation(method: string, path: string): string {
  const steps: string[] = []
  let owner = ''
  for (const segment of path.split('/').filter((one) => one !== '')) {
    const words = toWords(segment)
    if (!segment.startsWith(':') || steps.length === 0) {
      steps.push(words)
      owner = words
    } else steps.push(`${steps.pop()!} by ${withoutOwner(words, owner)}`)
  }
  const verb = method[0]! + method.slice(1).toLowerCase()
  return `${verb} ${steps.length === 0 ? 'the root' : steps.toReversed().join(' of ')}`
}

function toWords(segment: string): string {
  const words = segment.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').match(/[\p{L}\p{N}]+/gu)
  return words === null ? segment : words.join(' ').toLowerCase()
}

/** Shortens `book id` to `id` after `books`. */
function withoutOwner(words: string, owner: string): string {
  const start = [owner, owner.replace(/s$/, '')].find((one) => words.startsWith(`${one} `))
  return start === undefined ? words : words.slice(start.length + 1)
}
