import { listPathParameters } from '../../kit/index.ts'
import type { HttpMethod } from '../../definition/index.ts'

/** The names of a new method's parts, derived from its path. */
export interface RouteNames {
  /** Whether the last segment is a parameter, so the path identifies one entity. */
  readonly isEntity: boolean
  readonly parameters: readonly string[]
  /** `order item` */
  readonly noun: string
  readonly plural: string
  /** `Order-Item` */
  readonly schema: string
  /** `InsertOrderItem` */
  readonly className: string
  /** Folders below `src/` and `resources/routes/`, best first: `order/item`, `order/order_id/item`. */
  readonly folders: readonly string[]
  /** `insert` */
  readonly file: string
}

/** File name and class prefix by method, for a collection and for an entity. */
const actions: Readonly<Record<HttpMethod, { readonly collection: string; readonly entity: string }>> = {
  GET: { collection: 'collection', entity: 'entity' },
  POST: { collection: 'insert', entity: 'post' },
  PUT: { collection: 'update-all', entity: 'update' },
  PATCH: { collection: 'patch-all', entity: 'patch' },
  DELETE: { collection: 'delete-all', entity: 'delete' },
}

export function nameRoute(method: HttpMethod, path: string): RouteNames {
  const segments = path.split('/').filter((segment) => segment !== '')
  const fixed = segments.filter((segment) => !/^[:*]/.test(segment))
  const isEntity = /^[:*]/.test(segments.at(-1) ?? '')
  const words = wordsOf(fixed.at(-1) ?? 'root')
  const noun = [...words.slice(0, -1), singularOf(words.at(-1)!)]
  const file = actions[method][isEntity ? 'entity' : 'collection']
  const joined = noun.map(capitalise).join('')
  return {
    isEntity,
    parameters: listPathParameters(path),
    noun: noun.join(' '),
    plural: [...noun.slice(0, -1), pluralOf(noun.at(-1)!)].join(' '),
    schema: noun.map(capitalise).join('-'),
    className:
      method === 'GET' ? identifier(joined + capitalise(file)) : wordsOf(file).map(capitalise).join('') + joined,
    folders: [...new Set([fixed, segments].map(folderOf))],
    file,
  }
}

/** Returns the class name of a cronjob: `TidyUp` for `tidy-up`. */
export function nameCronjob(cronjob: string): string {
  const name = wordsOf(cronjob).map(capitalise).join('')
  return /^\d/.test(name) ? `Cronjob${name}` : name
}

function folderOf(segments: readonly string[]): string {
  const names = segments.map((segment) => segment.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, ''))
  return names.filter((name) => name !== '').join('/') || 'root'
}

/** `orderItems`, `order_items` and `Order-Items` consist of the same two words. */
function wordsOf(text: string): string[] {
  const words = text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  const found = words.filter((word) => word !== '').map((word) => word.toLowerCase())
  return found.length === 0 ? ['root'] : found
}

const unchanged = /(ss|us|is|news|series|species)$/

function singularOf(word: string): string {
  if (word.length < 4 || unchanged.test(word) || !word.endsWith('s')) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  return /(ss|sh|ch|x|zz|tus|rus|bus)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}

function pluralOf(word: string): string {
  if (/(news|series|species)$/.test(word)) return word
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(s|sh|ch|x|z)$/.test(word) ? `${word}es` : `${word}s`
}

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function identifier(name: string): string {
  return /^\d/.test(name) ? `Route${name}` : name
}
