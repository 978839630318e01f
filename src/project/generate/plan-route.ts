import path from 'node:path'
import { applyEdits, publicRate, publicRateValue } from '../../build/index.ts'
import {
  findValue,
  openEditing,
  type Definition,
  type Edit,
  type Editing,
  type Texts,
  type WritableMap,
} from '../../definition/index.ts'
import { nameRoute, type RouteNames } from './name-route.ts'
import { shapeMethod, type MethodBodies, type MethodShape } from './shape-method.ts'
import { writeAction } from './write-action.ts'

export interface RouteRequest extends MethodBodies {
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
  { definition, texts: before }: ExistingProject,
  request: RouteRequest,
): RoutePlan {
  const names = nameRoute(request.method, request.path)
  const context: RouteContext = {
    editing: openEditing(root, { texts: before }),
    definition,
    request,
    names,
    shape: shapeMethod(request, names, definition),
  }
  const action = chooseAction(context)
  const { className } = names
  const route = `${request.method} ${request.path}`
  const { method } = context.shape
  const inputs = { params: names.parameters.length > 0, query: 'parameters' in method, body: 'request' in method }
  const text = writeAction({ className, key: route, name: route, inputs, isTypeScript: true })
  const edits: Edit[] = []
  const added: { name: string; keys: readonly string[] }[] = []
  const add = (named: string, edit: Edit): void => {
    edits.push(edit)
    added.push({ name: named, keys: edit.keys })
  }
  for (const [name, schema] of Object.entries(context.shape.schemas))
    add(`schema ${name}`, { keys: ['schema', name], value: schema })
  if (needsRate(context) && !Object.hasOwn(definition.rates, publicRate))
    add(`rate ${publicRate}`, { keys: ['rate', publicRate], value: publicRateValue })
  const keys = ['routes', request.path]
  // Also a group without methods of its own.
  const isKnown = findValue(context.editing, keys) !== undefined
  if (isKnown) add(route, { keys: [...keys, 'methods', request.method], value: describeMethod(context, action) })
  else add(request.path, { keys, value: describeRoute(context, action) })
  return { texts: applyEdits(context.editing, edits, [[action, text]]), action, added }
}

/** `validate` warns about public methods that change data without a rate limit. */
function needsRate({ editing, request }: RouteContext): boolean {
  const isLimited = findValue(editing, ['routes', request.path, 'rate']) !== undefined
  return request.public && request.method !== 'GET' && !isLimited
}

interface ExistingProject {
  readonly definition: Definition
  /** The definition files. */
  readonly texts: Texts
}

interface RouteContext {
  readonly editing: Editing
  readonly definition: Definition
  readonly request: RouteRequest
  readonly names: RouteNames
  readonly shape: MethodShape
}

/** Next to the other actions of the route, if it has any. */
function chooseAction({ definition, request, names }: RouteContext): string {
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

function describeRoute(context: RouteContext, action: string): WritableMap {
  const { request, shape } = context
  return {
    ...(request.scopes === undefined ? {} : { scopes: request.scopes }),
    ...(Object.keys(shape.path).length === 0 ? {} : { path: shape.path }),
    methods: { [request.method]: makeMethod(context, { action }) },
  }
}

function describeMethod(context: RouteContext, action: string): WritableMap {
  const { editing, request } = context
  const shared = findValue(editing, ['routes', request.path, 'scopes'])
  const isShared = request.scopes === undefined || JSON.stringify(shared) === JSON.stringify(request.scopes)
  return makeMethod(context, { action, access: isShared ? {} : { scopes: request.scopes } })
}

interface MethodParts {
  readonly action: string
  readonly access?: WritableMap
}

function makeMethod(context: RouteContext, { action, access = {} }: MethodParts): WritableMap {
  const { request, shape } = context
  const { description = '', ...rest } = shape.method
  const open = request.public ? { public: true } : {}
  const rate = needsRate(context) ? { rate: publicRate } : {}
  return { description, ...open, ...access, ...rate, ...rest, action }
}
