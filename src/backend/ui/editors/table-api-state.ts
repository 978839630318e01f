import type { Input } from '../api/call.ts'
import type { Design } from './table-state.ts'

export type Body = Omit<Input<'POST /draft/table-api'>['body'], 'preview'>
type Method = Body['methods'][number]

export interface ApiState {
  readonly path: string
  readonly methods: readonly {
    readonly method: Method['method']
    readonly at: Method['at']
    readonly isOn: boolean
    readonly access: string
  }[]
  readonly scope: string
  readonly description: string
  readonly owner: string
  /** Columns that may refer to rows of all users. */
  readonly openParents: readonly string[]
  readonly softDelete: string
  readonly hasEvent: boolean
  readonly event: string
  readonly holders: string
}

export const isPublic = 'public'
export const anyToken = 'any'
/** The access of methods that follow the scope of the sheet. */
export const ofScope = 'scope'
/** The server chooses who may subscribe. */
export const byDefault = ''

/** The column that identifies a row; undefined if there are several. */
export function rowKeyOf({ columns, key }: Design): string | undefined {
  return columns.find(({ type }) => type === 'id')?.name ?? (key.length === 1 ? key[0] : undefined)
}

/** All methods need the scope, DELETE sets a status if there is one. */
export function propose(design: Design): ApiState {
  const resource = design.name
    .toLowerCase()
    .replace(/^app_(?=.)/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
  const methods = [
    ...(['GET', 'POST'] as const).map((method) => ({ method, at: 'list' as const })),
    ...(rowKeyOf(design) !== undefined
      ? (['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ method, at: 'row' as const }))
      : []),
  ]
  return {
    path: `/${resource}`,
    methods: methods.map((one) => ({
      ...one,
      isOn: one.method !== 'PATCH',
      access: ofScope,
    })),
    scope: resource,
    description: `Read and change ${resource}`,
    owner:
      design.columns.find(({ name, type }) => /^(user|owner)_id$/.test(name) && (type === 'uuid' || type === 'text'))
        ?.name ?? '',
    openParents: [],
    softDelete: softDeletes(design)[0] ?? '',
    hasEvent: false,
    event: `${resource.replaceAll('-', '_')}_created`,
    holders: byDefault,
  }
}

/** Whether reading needs no token. */
export function isReadingPublic({ methods, owner }: ApiState): boolean {
  const reading = methods.filter(({ method, isOn }) => method === 'GET' && isOn)
  return owner === '' && reading.length > 0 && reading.every(({ access }) => access === isPublic)
}

/** Lets everyone read, or only tokens with the scope. */
export function chooseReading(methods: ApiState['methods'], isOpen: boolean): ApiState['methods'] {
  return methods.map((one) => (one.method === 'GET' ? { ...one, access: isOpen ? isPublic : ofScope } : one))
}

export function softDeletes({ columns }: Design): readonly string[] {
  return columns.flatMap(({ name, type, null: isNullable }) => {
    const isMark =
      (/^(status|state)$/.test(name) && type === 'integer') ||
      (/delet|archiv|active/.test(name) && (type === 'boolean' || (type === 'timestamp' && isNullable === true)))
    return isMark ? [name] : []
  })
}

export function makeBody(
  state: ApiState,
  {
    connection,
    table,
    known,
  }: { readonly connection: string; readonly table: string; readonly known: readonly string[] },
): Body {
  const { path, methods, scope, description, owner, openParents, softDelete, hasEvent, event, holders } = state
  const scopesOf = (access: string) =>
    access === anyToken || access === isPublic ? [] : [access === ofScope ? scope : access.replace(/^=/, '')]
  const chosen = methods.filter(({ isOn }) => isOn)
  const used = chosen.some(({ access }) => access === ofScope || (owner !== '' && access === isPublic))
  const isUsed = used || (hasEvent && (holders === ofScope || (holders === byDefault && owner === '')))
  return {
    connection,
    table,
    path,
    methods: chosen.map(({ method, at, access }) => {
      const isOpen = access === isPublic && owner === ''
      return { method, at, public: isOpen, scopes: isOpen ? [] : scopesOf(access === isPublic ? ofScope : access) }
    }),
    ...(owner !== '' && { owner }),
    ...(openParents.length > 0 && { open_parents: [...openParents] }),
    ...(softDelete !== '' && { soft_delete: softDelete }),
    ...(hasEvent && {
      event: { name: event, description: '', ...(holders !== byDefault && { scopes: scopesOf(holders) }) },
    }),
    new_scopes: isUsed && scope !== '' && !known.includes(scope) ? [{ name: scope, description }] : [],
  }
}

/** The fields that are required to make anything. */
export function findMissing({ path, scope, hasEvent, event }: ApiState, { methods, event: made }: Body) {
  const used = [...methods, ...(made === undefined ? [] : [made])].flatMap(({ scopes = [] }) => scopes)
  const hasOwnScope = hasEvent && made?.scopes === undefined
  return {
    path: !/^\/./.test(path),
    scope: scope === '' && (used.includes('') || hasOwnScope),
    event: hasEvent && event === '',
  }
}
