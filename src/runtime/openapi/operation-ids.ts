import type { JsonSchema } from '../../contract/index.ts'
import { isReservedName, joinWords, listPathParameters, sha256 } from '../../kit/index.ts'
import { followReference, type NamedSchemas } from '../../schema/index.ts'
import type { Api, ApiMethod } from './api.ts'
import { toPlural, toSingular, withArticle } from './english-nouns.ts'

/** A method, and what the names of its operation are derived from. */
interface Place {
  readonly path: string
  readonly method: Pick<ApiMethod, 'method' | 'responses'>
  readonly schemas: NamedSchemas
}

/**
 * Makes the `operationId` of each method, by `METHOD /path`: the one that it declares, or a name such as `listTodos`,
 * `createTodo` or `getTodo`. A derived name depends on the path, the method and its declared success responses. A version
 * at the start of the path is part of it only if another version has taken the name. If it is taken otherwise, the names
 * of the parameters follow.
 */
export function makeOperationIds({ routes, schemas }: Pick<Api, 'routes' | 'schemas'>): ReadonlyMap<string, string> {
  const methods = routes
    .flatMap(({ path, methods: own }) => own.map((method) => ({ path, method, key: `${method.method} ${path}` })))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const ids = new Map<string, string>()
  /** The paths of the methods that have each name. */
  const taken = new Map<string, string>()
  const isFree = (id: string) => !taken.has(comparable(id)) && !isReservedName(id)
  const take = ({ key, path }: { readonly key: string; readonly path: string }, id: string): void => {
    taken.set(comparable(id), path)
    ids.set(key, id)
  }
  for (const one of methods) if (one.method.operationId !== undefined) take(one, one.method.operationId)
  for (const one of methods) {
    const { key, method, path } = one
    if (method.operationId !== undefined) continue
    const plain = makeOperationId({ method, path: withoutVersion(path), schemas })
    const other = taken.get(comparable(plain))
    const isOtherVersion = other !== undefined && versionOf(other) !== versionOf(path)
    const short = isOtherVersion ? makeOperationId({ method, path, schemas }) : plain
    const parameters = listPathParameters(path).map(toPascal)
    const long = parameters.length === 0 ? short : `${short}By${parameters.join('And')}`
    take(one, [short, long].find(isFree) ?? `${long}_${sha256(key).slice(0, 6)}`)
  }
  return ids
}

/** What precedes the names of things in many paths: `/v1`, `/api`, `/api/v2`. */
const versionPrefix = /^(?:\/api)?(?:\/v\d+(?:[._-]\d+)*)?(?=\/[^:*/])/i

function versionOf(path: string): string {
  return versionPrefix.exec(path)?.[0] ?? ''
}

function withoutVersion(path: string): string {
  return path.slice(versionOf(path).length)
}

/** Generated clients may change case and underscores. */
function comparable(id: string): string {
  return id.toLowerCase().replaceAll('_', '')
}

function makeOperationId(place: Place): string {
  const { verb, last, owners } = analyze(place)
  const nouns = owners.map(({ words }) => toPascal(singularOf(words)))
  if (verb === 'act') return toCamel([last!.words, ...nouns].join(' '))
  return verb + (last === undefined ? 'Root' : [...nouns, toPascal(formOf(last, verb))].join(''))
}

/** Names an operation without a description: `List reviews of a book` for `GET /books/:book_id/reviews`. */
export function nameOperation(described: Place): string {
  const place = { ...described, path: withoutVersion(described.path) }
  const { verb, last, owners } = analyze(place)
  const of = owners.toReversed().map(({ words }) => `of ${withArticle(singularOf(words))}`)
  if (last === undefined) return `${capital(verb)} the root`
  if (verb === 'act') {
    const [owner, ...others] = owners.toReversed().map(({ words }) => withArticle(singularOf(words)))
    return [capital(last.words), owner, ...others.map((one) => `of ${one}`)].join(' ')
  }
  const by = last.parameters.map(toWords).filter((words) => !isId(words, last))
  return [
    capital(verb),
    describeNoun(last, verb, place),
    ...(by.length === 0 ? [] : [`by ${joinWords(by)}`]),
    ...of,
  ].join(' ')
}

/** A noun in a path, such as `helpdesk ticket` of `/helpdesk/ticket/:id`, and the parameters after it. */
interface Noun {
  readonly words: string
  readonly parameters: readonly string[]
}

/** `act` is a verb in the path, such as `close` in `POST /ticket/:id/close`. */
type Verb = 'list' | 'get' | 'create' | 'act' | 'post' | 'replace' | 'update' | 'delete'

function analyze(place: Place) {
  const nouns = nounsOf(place.path)
  const last = nouns.at(-1)
  return { verb: verbOf(place, nouns), last, owners: nouns.slice(0, -1) }
}

function nounsOf(path: string): readonly Noun[] {
  const nouns: { words: string; parameters: string[] }[] = []
  for (const segment of path.split('/').filter((one) => one !== '')) {
    const last = nouns.at(-1)
    const words = toWords(segment)
    if (/^[:*]/.test(segment)) {
      if (last === undefined) nouns.push({ words: words.replace(/ id$/, ''), parameters: [segment] })
      else last.parameters.push(segment)
    } else if (last === undefined || last.parameters.length > 0) nouns.push({ words, parameters: [] })
    else last.words += ` ${words}`
  }
  return nouns
}

const verbs: Readonly<Record<string, Verb>> = { PUT: 'replace', PATCH: 'update', DELETE: 'delete' }

function verbOf({ method, schemas }: Place, nouns: readonly Noun[]): Verb {
  const last = nouns.at(-1)
  const isItem = last !== undefined && last.parameters.length > 0
  const success = Object.keys(method.responses).filter((status) => /^2\d\d$/.test(status))
  if (method.method === 'GET')
    return !isItem && last !== undefined && success.some((status) => isList(method.responses[status]!, last, schemas))
      ? 'list'
      : 'get'
  if (method.method !== 'POST') return verbs[method.method] ?? 'post'
  if (nouns.length > 0 && success.includes('201')) return 'create'
  return nouns.length > 1 && !isItem && success.length > 0 ? 'act' : 'post'
}

/** What an object calls the entries of a list. */
const entries = /^(?:entry|entries|items?|data|results?|records|rows|values|content|list|hits)$/i

/** Whether a response is an array, or a page of one: an object with an array of entries, or with an array and `next`. */
function isList(schema: JsonSchema, { words }: Noun, schemas: NamedSchemas): boolean {
  const resolve = (from: JsonSchema): Readonly<Record<string, unknown>> => {
    let found = { schema: from, root: { schema, name: '' } }
    for (let hops = 0; hops < maxReferences; hops++) {
      const reference = typeof found.schema === 'object' ? found.schema['$ref'] : undefined
      const target = typeof reference === 'string' ? followReference(reference, found.root, schemas) : undefined
      if (target === undefined) break
      found = target
    }
    return typeof found.schema === 'object' ? found.schema : {}
  }
  const { type, properties } = resolve(schema)
  if (type === 'array') return true
  if (typeof properties !== 'object' || properties === null) return false
  const plural = changeLast(words, toPlural)
  return Object.entries(properties as Record<string, JsonSchema>).some(
    ([name, one]) =>
      (entries.test(name) || toWords(name) === plural || Object.hasOwn(properties, 'next')) &&
      resolve(one)['type'] === 'array',
  )
}

const maxReferences = 50

function formOf({ words, parameters }: Noun, verb: Verb): string {
  if (verb === 'list') return changeLast(words, toPlural)
  return parameters.length > 0 || verb === 'create' ? singularOf(words) : words
}

function describeNoun(noun: Noun, verb: Verb, { method: { responses } }: Place): string {
  const words = formOf(noun, verb)
  if (noun.parameters.length > 0 || verb === 'create') return withArticle(words)
  // Without a declared response, a GET may be a list.
  const isUnclear = verb === 'get' && !Object.keys(responses).some((status) => status.startsWith('2'))
  return verb === 'list' || verb === 'post' || isUnclear ? words : `the ${words}`
}

/** Whether a parameter is the id of the noun before it: `book id`, `id` or `book` after `books`. */
function isId(parameter: string, { words }: Noun): boolean {
  const last = words.split(' ').at(-1)!
  const names = [words, singularOf(words), last, toSingular(last)]
  return parameter === 'id' || names.some((name) => parameter === name || parameter === `${name} id`)
}

function singularOf(words: string): string {
  return changeLast(words, toSingular)
}

function changeLast(words: string, change: (word: string) => string): string {
  const all = words.split(' ')
  return [...all.slice(0, -1), change(all.at(-1)!)].join(' ')
}

function toWords(segment: string): string {
  const words = segment.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').match(/[\p{L}\p{N}]+/gu)
  return words === null ? segment : words.join(' ').toLowerCase()
}

/** Other letters than those of identifiers are left out. */
function toPascal(words: string): string {
  const parts = words.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return parts.map(capital).join('')
}

function toCamel(words: string): string {
  const name = toPascal(words)
  return name.charAt(0).toLowerCase() + name.slice(1)
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
