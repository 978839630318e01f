import { existsSync } from 'node:fs'
import path from 'node:path'
import {
  addToDefinition,
  findKey,
  findMap,
  findValue,
  Include,
  writeYaml,
  type Definition,
  type DefinitionEdit,
  type HttpMethod,
  type Texts,
  type Writable,
  type WritableMap,
} from '../../definition/index.ts'
import { errors } from '../errors.ts'
import { nameRoute, type RouteNames } from './name-route.ts'
import { shapeMethod, type MethodShape } from './shape-method.ts'
import { writeAction } from './write-action.ts'

export interface RouteWish {
  readonly method: HttpMethod
  readonly path: string
  /** Absent: those of the route. */
  readonly scopes?: readonly string[] | undefined
  readonly public: boolean
}

/** What writing the route would make of the files. */
export interface RoutePlan {
  readonly texts: Texts
  readonly action: string
  /** Keys of waypost.yml that are new, each with what to call it. */
  readonly added: readonly { readonly name: string; readonly keys: readonly string[] }[]
}

/** Plans a new method in the way in which the project is written. @throws WP_PROJECT_GENERATE */
export function planRoute(root: string, { definition, texts: before }: Planned, wish: RouteWish): RoutePlan {
  const names = nameRoute(wish.method, wish.path)
  const planning: Planning = { root, definition, wish, names, shape: shapeMethod(wish.method, names, definition) }
  const action = chooseAction(planning)
  const { className } = names
  const route = `${wish.method} ${wish.path}`
  const { method } = planning.shape
  const inputs = { params: names.parameters.length > 0, query: 'parameters' in method, body: 'request' in method }
  const text = writeAction({ className, key: route, name: route, inputs, isTypeScript: true })
  let texts: Texts = new Map([...before, [action, text]])
  const added: { name: string; keys: readonly string[] }[] = []
  for (const [name, schema] of Object.entries(planning.shape.schemas)) {
    texts = addSchema(planning, texts, { name, schema })
    added.push({ name: `schema ${name}`, keys: ['schema', name] })
  }
  if (needsRate(planning, texts) && !Object.hasOwn(definition.rates, publicRate)) {
    texts = edit({ root, texts }, ['rate', publicRate], { limit: 60, window: '1m', by: 'address' })
    added.push({ name: `rate ${publicRate}`, keys: ['rate', publicRate] })
  }
  const isKnown = definition.routes.some(({ path }) => path === wish.path)
  texts = isKnown ? addMethod(planning, texts, action) : addRoute(planning, texts, action)
  const keys = ['routes', wish.path]
  added.push(isKnown ? { name: route, keys: [...keys, 'methods', wish.method] } : { name: wish.path, keys })
  return { texts, action, added }
}

/** Limits what everybody may change. */
const publicRate = 'public'

/** What everybody may call as often as they like, and changes something, is warned of by `validate`. */
function needsRate({ root, wish }: Planning, texts: Texts): boolean {
  const isLimited = findValue({ root, texts }, ['routes', wish.path, 'rate']) !== undefined
  return wish.public && wish.method !== 'GET' && !isLimited
}

interface Planned {
  readonly definition: Definition
  /** The files of the definition. */
  readonly texts: Texts
}

interface Planning {
  readonly root: string
  readonly definition: Definition
  readonly wish: RouteWish
  readonly names: RouteNames
  readonly shape: MethodShape
}

/** Beside the other actions of the route, where it has some. */
function chooseAction({ definition, wish, names }: Planning): string {
  const known = definition.routes.find(({ path }) => path === wish.path)
  const files = known?.methods.flatMap(({ action }) => ('file' in action ? [action.file] : [])) ?? []
  const beside = files.map((file) => path.posix.dirname(file)).filter((folder) => folder.includes('/'))
  const folders = beside.length > 0 ? beside.slice(0, 1) : names.folders.map((folder) => `src/${folder}`)
  const used = definition.routes.flatMap(({ methods }) =>
    methods.flatMap(({ action }) => ('file' in action ? action.file : [])),
  )
  return chooseFree(
    folders.map((folder) => `${folder}/${names.file}.ts`),
    used,
  )
}

/** The first one that no other route uses. */
function chooseFree(candidates: readonly string[], used: readonly string[]): string {
  return candidates.find((file) => !used.includes(file)) ?? candidates.at(-1)!
}

function addSchema({ root }: Planning, texts: Texts, { name, schema }: { name: string; schema: Writable }): Texts {
  const editing: DefinitionEdit = { root, texts }
  const file = 'resources/schema.yml'
  const isMissing = findKey(editing, ['schema']) === undefined
  if (!isMissing || isAllInOne(editing) || existsSync(path.join(root, file)))
    return edit(editing, ['schema', name], schema)
  const withFile = new Map(texts).set(file, writeYaml({ [name]: schema }))
  return edit({ root, texts: withFile }, ['schema'], new Include(file))
}

/** Whether the project keeps its routes together instead of each in a file of its own. */
function isAllInOne(editing: DefinitionEdit): boolean {
  const routes = findMap(editing, ['routes'])
  return (
    routes !== undefined && (routes.file.endsWith('.json') || (routes.inPlace > 0 && routes.inPlace >= routes.included))
  )
}

function addRoute(planning: Planning, texts: Texts, action: string): Texts {
  const { root, definition, wish, names, shape } = planning
  const editing = { root, texts }
  const keys = ['routes', wish.path]
  const route: WritableMap = {
    ...(wish.scopes === undefined ? {} : { scopes: wish.scopes }),
    ...(Object.keys(shape.path).length === 0 ? {} : { path: shape.path }),
    methods: { [wish.method]: makeMethod(planning, texts, { action }) },
  }
  if (isAllInOne(editing)) return edit(editing, keys, route)
  const used = definition.routes.flatMap(({ methods }) => methods.map(({ at }) => at.file))
  const file = chooseFree(
    names.folders.map((folder) => `resources/routes/${folder}${names.isEntity ? '/entity' : ''}.yml`),
    used,
  )
  return edit({ root, texts: new Map(texts).set(file, writeYaml(route)) }, keys, new Include(file))
}

function addMethod(planning: Planning, texts: Texts, action: string): Texts {
  const { root, wish } = planning
  const editing = { root, texts }
  const shared = findValue(editing, ['routes', wish.path, 'scopes'])
  const isShared = wish.scopes === undefined || JSON.stringify(shared) === JSON.stringify(wish.scopes)
  const method = makeMethod(planning, texts, { action, access: isShared ? {} : { scopes: wish.scopes } })
  return edit(editing, ['routes', wish.path, 'methods', wish.method], method)
}

interface MethodParts {
  readonly action: string
  readonly access?: WritableMap
}

function makeMethod(planning: Planning, texts: Texts, { action, access = {} }: MethodParts): WritableMap {
  const { wish, shape } = planning
  const { description = '', ...rest } = shape.method
  const open = wish.public ? { public: true } : {}
  const rate = needsRate(planning, texts) ? { rate: publicRate } : {}
  return { description, ...open, ...access, ...rate, ...rest, action }
}

function edit(editing: DefinitionEdit, keys: readonly string[], value: Writable): Texts {
  const texts = addToDefinition(editing, keys, value)
  if (texts !== undefined) return texts
  const file = findMap(editing, keys.slice(0, -1))?.file ?? 'waypost.yml'
  const problem = `Cannot add "${keys.at(-1)}" to ${file} automatically`
  throw errors.WP_PROJECT_GENERATE({ problem, hint: 'Add it by hand: the format of its map is not supported.' })
}
