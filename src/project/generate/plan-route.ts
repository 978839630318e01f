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

export interface RouteRequest {
  readonly method: HttpMethod
  readonly path: string
  /** By default those of the route. */
  readonly scopes?: readonly string[] | undefined
  readonly public: boolean
}

/** The changes to files that add the route. */
export interface RoutePlan {
  readonly texts: Texts
  readonly action: string
  /** New keys of waypost.yml, each with its name for output. */
  readonly added: readonly { readonly name: string; readonly keys: readonly string[] }[]
}

/**
 * Plans a new method in the style of the project.
 * @throws WP_PROJECT_GENERATE
 */
export function planRoute(
  root: string,
  { definition, texts: before }: PlannedProject,
  request: RouteRequest,
): RoutePlan {
  const names = nameRoute(request.method, request.path)
  const context: PlanContext = {
    root,
    definition,
    request,
    names,
    shape: shapeMethod(request.method, names, definition),
  }
  const action = chooseAction(context)
  const { className } = names
  const route = `${request.method} ${request.path}`
  const { method } = context.shape
  const inputs = { params: names.parameters.length > 0, query: 'parameters' in method, body: 'request' in method }
  const text = writeAction({ className, key: route, name: route, inputs, isTypeScript: true })
  let texts: Texts = new Map([...before, [action, text]])
  const added: { name: string; keys: readonly string[] }[] = []
  for (const [name, schema] of Object.entries(context.shape.schemas)) {
    texts = addSchema(context, texts, { name, schema })
    added.push({ name: `schema ${name}`, keys: ['schema', name] })
  }
  if (needsRate(context, texts) && !Object.hasOwn(definition.rates, publicRate)) {
    texts = editDefinition({ root, texts }, ['rate', publicRate], { limit: 60, window: '1m', by: 'address' })
    added.push({ name: `rate ${publicRate}`, keys: ['rate', publicRate] })
  }
  const isKnown = definition.routes.some(({ path }) => path === request.path)
  texts = isKnown ? addMethod(context, texts, action) : addRoute(context, texts, action)
  const keys = ['routes', request.path]
  added.push(isKnown ? { name: route, keys: [...keys, 'methods', request.method] } : { name: request.path, keys })
  return { texts, action, added }
}

/** The rate limit for public methods that change data. */
const publicRate = 'public'

/** `validate` warns about public methods that change data without a rate limit. */
function needsRate({ root, request }: PlanContext, texts: Texts): boolean {
  const isLimited = findValue({ root, texts }, ['routes', request.path, 'rate']) !== undefined
  return request.public && request.method !== 'GET' && !isLimited
}

interface PlannedProject {
  readonly definition: Definition
  /** The definition files. */
  readonly texts: Texts
}

interface PlanContext {
  readonly root: string
  readonly definition: Definition
  readonly request: RouteRequest
  readonly names: RouteNames
  readonly shape: MethodShape
}

/** Next to the other actions of the route, if it has any. */
function chooseAction({ definition, request, names }: PlanContext): string {
  const known = definition.routes.find(({ path }) => path === request.path)
  const files = known?.methods.flatMap(({ action }) => ('file' in action ? [action.file] : [])) ?? []
  const siblings = files.map((file) => path.posix.dirname(file)).filter((folder) => folder.includes('/'))
  const folders = siblings.length > 0 ? siblings.slice(0, 1) : names.folders.map((folder) => `src/${folder}`)
  const used = definition.routes.flatMap(({ methods }) =>
    methods.flatMap(({ action }) => ('file' in action ? action.file : [])),
  )
  return chooseFree(
    folders.map((folder) => `${folder}/${names.file}.ts`),
    used,
  )
}

/** Returns the first candidate that no other route uses. */
function chooseFree(candidates: readonly string[], used: readonly string[]): string {
  return candidates.find((file) => !used.includes(file)) ?? candidates.at(-1)!
}

function addSchema({ root }: PlanContext, texts: Texts, { name, schema }: { name: string; schema: Writable }): Texts {
  const editing: DefinitionEdit = { root, texts }
  const file = 'resources/schema.yml'
  const isMissing = findKey(editing, ['schema']) === undefined
  if (!isMissing || isAllInOne(editing) || existsSync(path.join(root, file)))
    return editDefinition(editing, ['schema', name], schema)
  const withFile = new Map(texts).set(file, writeYaml({ [name]: schema }))
  return editDefinition({ root, texts: withFile }, ['schema'], new Include(file))
}

/** Whether the project defines its routes in one file instead of a file for each. */
export function isAllInOne(editing: DefinitionEdit): boolean {
  const routes = findMap(editing, ['routes'])
  return (
    routes !== undefined && (routes.file.endsWith('.json') || (routes.inPlace > 0 && routes.inPlace >= routes.included))
  )
}

function addRoute(context: PlanContext, texts: Texts, action: string): Texts {
  const { root, definition, request, names, shape } = context
  const editing = { root, texts }
  const keys = ['routes', request.path]
  const route: WritableMap = {
    ...(request.scopes === undefined ? {} : { scopes: request.scopes }),
    ...(Object.keys(shape.path).length === 0 ? {} : { path: shape.path }),
    methods: { [request.method]: makeMethod(context, texts, { action }) },
  }
  if (isAllInOne(editing)) return editDefinition(editing, keys, route)
  const used = definition.routes.flatMap(({ methods }) => methods.map(({ at }) => at.file))
  const file = chooseFree(
    names.folders.map((folder) => `resources/routes/${folder}${names.isEntity ? '/entity' : ''}.yml`),
    used,
  )
  return editDefinition({ root, texts: new Map(texts).set(file, writeYaml(route)) }, keys, new Include(file))
}

function addMethod(context: PlanContext, texts: Texts, action: string): Texts {
  const { root, request } = context
  const editing = { root, texts }
  const shared = findValue(editing, ['routes', request.path, 'scopes'])
  const isShared = request.scopes === undefined || JSON.stringify(shared) === JSON.stringify(request.scopes)
  const method = makeMethod(context, texts, { action, access: isShared ? {} : { scopes: request.scopes } })
  return editDefinition(editing, ['routes', request.path, 'methods', request.method], method)
}

interface MethodParts {
  readonly action: string
  readonly access?: WritableMap
}

function makeMethod(context: PlanContext, texts: Texts, { action, access = {} }: MethodParts): WritableMap {
  const { request, shape } = context
  const { description = '', ...rest } = shape.method
  const open = request.public ? { public: true } : {}
  const rate = needsRate(context, texts) ? { rate: publicRate } : {}
  return { description, ...open, ...access, ...rate, ...rest, action }
}

/** @throws WP_PROJECT_GENERATE if the value cannot be added */
export function editDefinition(editing: DefinitionEdit, keys: readonly string[], value: Writable): Texts {
  const texts = addToDefinition(editing, keys, value)
  if (texts !== undefined) return texts
  const file = findMap(editing, keys.slice(0, -1))?.file ?? 'waypost.yml'
  const problem = `Cannot add "${keys.at(-1)}" to ${file} automatically`
  throw errors.WP_PROJECT_GENERATE({ problem, hint: 'Add it by hand: the format of its map is not supported.' })
}
