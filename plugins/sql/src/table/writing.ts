import type { Source, Sources, TablePlan } from './plan.ts'
import { chooseRule, findReference, findRules, findServed, makeThrough, maxOwnerSteps } from './owner-rules.ts'
import { resolveSources } from './sources.ts'
import { checkColumn, checkForm, columnOf, isSupported, type TableUse } from './table-use.ts'

/** The columns of a method: which rows it sees, and what it writes. */
export interface Writing {
  readonly columns: readonly string[]
  readonly where: Sources
  readonly owner: TablePlan['owner']
  readonly version: TablePlan['version']
  readonly write: readonly string[]
  readonly set: Sources
  /** What a change of a row writes. */
  readonly change: { readonly write: readonly string[]; readonly set: Sources }
}

/** Checks which columns a config reads and writes, and returns those of one method. */
export function resolveWriting(table: TableUse): Writing {
  const { config, operation } = table
  const columns = resolveColumns(table)
  const owner = resolveOwner(table)
  const version = resolveVersion(table)
  const where = resolveSources(table, { name: 'where', values: config.where, isUsed: true })
  const isInsert = operation === 'insert'
  const isUpdate = operation === 'replace' || operation === 'update'
  const isSoft = operation === 'delete' && config.delete !== undefined
  const isUpsert = isInsert && config.upsert !== undefined
  const set = resolveSources(table, { name: 'set', values: config.set, isUsed: isInsert })
  const setOnUpdate = resolveSources(table, {
    name: 'set_on_update',
    values: config.set_on_update,
    isUsed: isUpdate || isSoft || isUpsert,
  })
  const remove = resolveSources(table, { name: 'delete', values: config.delete, isUsed: isSoft })
  checkSets(table, { where, owner, version, set, setOnUpdate, remove })
  const ownerColumn = owner?.parent === undefined ? owner?.column : undefined // a reference may change
  const fixed = new Set([...Object.keys(where), ...[ownerColumn, version?.column].filter((one) => one !== undefined)])
  const write = resolveWrite(table, columns, {
    fixed,
    sets: new Set([set, setOnUpdate, remove].flatMap((one) => Object.keys(one))),
  })
  const sets: Partial<Record<typeof operation, Sources>> = {
    insert: { ...where, ...set },
    replace: setOnUpdate,
    update: setOnUpdate,
    delete: isSoft ? { ...setOnUpdate, ...remove } : {},
  }
  const without = (names: readonly string[]) => write.filter((name) => !names.includes(name))
  const change = { write: without([...table.key, ...Object.keys(setOnUpdate)]), set: setOnUpdate }
  const written = isInsert ? without(Object.keys(set)) : isUpdate ? change.write : []
  const found = { columns, where, owner, version, write: written, set: sets[operation] ?? {}, change }
  if (isInsert) checkInsert(table, found)
  if (isUpdate && written.length === 0)
    table.report('/write', `${table.use.method} ${table.use.path} cannot write any column`, {
      hint: 'List columns in "write", or remove the method',
    })
  return found
}

function resolveColumns({ config, table, report }: TableUse): readonly string[] {
  const { columns } = config
  if (columns === 'all') return Object.keys(table.columns).filter((name) => isSupported(name, table.columns[name]!))
  return columns.filter((name, index) => checkColumn(name, table, report, `/columns/${index}`))
}

function resolveOwner(given: TableUse): TablePlan['owner'] {
  const { config, table, use, report } = given
  const { owner } = config
  if (owner === undefined) return undefined
  if (use.public)
    report('/owner', `${use.method} ${use.path} is public, so there is no user to own the rows`, {
      hint: 'Remove "public: true", or use an action without "owner"',
    })
  if (typeof owner === 'object' && 'through' in owner) return resolveThrough(owner.through, given)
  const { column, unless } = typeof owner === 'string' ? { column: owner, unless: undefined } : owner
  const at = typeof owner === 'string' ? '/owner' : '/owner/column'
  if (!checkColumn(column, table, report, at)) return undefined
  const { type } = columnOf(table, column)!
  if (type !== 'text' && type !== 'uuid')
    report(at, `The owner column "${column}" must have the type text or uuid, not ${type}`)
  return { column, ...(unless !== undefined && { unless }) }
}

/** Checks `owner: { through }`: the row has the owner of the row that it refers to. */
function resolveThrough(column: string, { config, connection, table, snapshot, use, report }: TableUse) {
  const at = '/owner/through'
  if (!checkColumn(column, table, report, at)) return undefined
  const reference = findReference(column, table)
  if (reference === undefined) {
    report(at, `"${column}" does not refer to another table`, { hint: 'Specify a column with its own foreign key' })
    return undefined
  }
  const isLosing = reference.on_delete === 'set null' || reference.on_delete === 'set default'
  if (columnOf(table, column)!.null || isLosing) {
    const reason = isLosing ? `is "on delete ${reference.on_delete}"` : 'allows null'
    report(at, `Rows could have no owner, because "${column}" ${reason}`, {
      hint: 'Make the column required, and delete the rows together with the row that they refer to: on_delete: cascade',
    })
  }
  const served = findServed(connection, use, snapshot)
  const rule = chooseRule(config, reference, { served, maxSteps: maxOwnerSteps - 1 })
  const owner = makeThrough(reference, rule)
  if (owner !== undefined) return owner
  const rules = findRules(reference.table, served)
  const [name = 'ACTION'] = rules.flatMap(({ names }) => names)
  const isOwned = served.actions.get(reference.table)?.some(([, one]) => one.owner !== undefined) ?? false
  if (rules.length === 1 || (rules.length === 0 && isOwned))
    report(
      at,
      `"through" follows ${maxOwnerSteps} references at most, but finds no owner column starting from "${column}" on`,
      {
        hint: `Add an owner column to "${reference.table}" or to "${config.table}"`,
      },
    )
  else if (rules.length === 0)
    report(at, `No action with "owner" serves "${reference.table}", so its rows have no owner`, {
      hint: `Add "owner" to the action of "${reference.table}"`,
    })
  else
    report(
      at,
      `It is ambiguous who owns the rows of "${reference.table}", which has different or several owner rules`,
      {
        hint: `Choose the rule of one action: parents: { ${column}: ${name} }`,
      },
    )
  return undefined
}

function resolveVersion({ config, table, report }: TableUse): TablePlan['version'] {
  const { version } = config
  if (version === undefined) return undefined
  const { column, required = false } = typeof version === 'string' ? { column: version } : version
  const at = typeof version === 'string' ? '/version' : '/version/column'
  if (!checkColumn(column, table, report, at)) return undefined
  const { type, null: isNullable } = columnOf(table, column)!
  if ((type !== 'integer' && type !== 'bigint') || isNullable)
    report(at, `The version column "${column}" must have the type integer or bigint and not allow null`)
  return { column, required }
}

interface SetParts extends Pick<Writing, 'where' | 'owner' | 'version'> {
  readonly set: Sources
  readonly setOnUpdate: Sources
  readonly remove: Sources
}

/** Reports values of columns that have a value by their role. */
function checkRoles({ report }: TableUse, { where, owner, version, set, setOnUpdate, remove }: SetParts): void {
  for (const [name, sources] of Object.entries({ where, set, set_on_update: setOnUpdate, delete: remove })) {
    for (const [role, column] of [
      ['owner', owner?.parent === undefined ? owner?.column : undefined],
      ['version', version?.column],
    ] as const) {
      if (column === undefined || !Object.hasOwn(sources, column)) continue
      report(`/${name}/${column}`, `"${column}" is the ${role} column, which has its own value`, { hint: 'Remove it' })
    }
  }
}

/** Reports values that contradict others. */
function checkSets(table: TableUse, parts: SetParts): void {
  const { where, set, setOnUpdate, remove } = parts
  const { report, config, key } = table
  checkRoles(table, parts)
  for (const column of Object.keys(setOnUpdate)) {
    if (Object.hasOwn(where, column) || key.includes(column))
      report(`/set_on_update/${column}`, `"${column}" identifies the row, so a change must keep its value`, {
        hint: 'Remove it',
      })
  }
  for (const [column, source] of Object.entries(set)) {
    if (Object.hasOwn(where, column) && !isSame(where[column]!, source))
      report(`/set/${column}`, `The API would not serve new rows, because "where" requires another "${column}"`, {
        hint: `Use the value of "where", or remove "${column}" from "set"`,
      })
  }
  const contradicts = Object.entries(remove).some(
    ([column, source]) => Object.hasOwn(where, column) && differs(where[column]!, source),
  )
  const hasProblems = [
    [config.where, where],
    [config.delete, remove],
  ].some(([given = {}, found]) => Object.keys(given).length > Object.keys(found!).length)
  if (config.delete !== undefined && !contradicts && !hasProblems)
    report('/delete', 'The API would still serve deleted rows, because "delete" does not contradict "where"', {
      hint: 'Set a column of "where" to another value',
    })
}

function isSame(one: Source, other: Source): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Whether two sources always have different values. */
function differs(one: Source, other: Source): boolean {
  if (one.from === 'constant' && other.from === 'constant') return !isSame(one, other)
  return one.from === 'constant' && one.value === null
}

interface Fixed {
  readonly fixed: ReadonlySet<string>
  readonly sets: ReadonlySet<string>
}

function resolveWrite(table: TableUse, columns: readonly string[], { fixed, sets }: Fixed): readonly string[] {
  const { config, report, key } = table
  const known = table.table.columns
  const { write } = config
  if (write === undefined)
    return columns.filter(
      (name) =>
        !fixed.has(name) &&
        !sets.has(name) &&
        !key.includes(name) &&
        !known[name]!.generated &&
        (known[name]!.form !== 'mixed' || known[name]!.written !== undefined),
    )
  return write.filter((name, index) => {
    const at = `/write/${index}`
    if (!checkColumn(name, table.table, report, at) || !checkForm(name, table, at)) return false
    if (!fixed.has(name) && !known[name]!.generated) return true
    const reason = fixed.has(name) ? 'it is in "where", or the owner or version column' : 'the database computes it'
    report(at, `Callers cannot write the column "${name}": ${reason}`, { hint: 'Remove it' })
    return false
  })
}

/** Reports columns of a new row that would have no value. */
function checkInsert(table: TableUse, { owner, version, write, set }: Writing): void {
  const ownerColumn = owner?.parent === undefined ? owner?.column : undefined
  const given = new Set([...write, ...Object.keys({ ...table.config.set, ...set }), ownerColumn, version?.column])
  for (const [name, column] of Object.entries(table.table.columns)) {
    if (given.has(name) || column.null || column.default || column.generated || column.type === 'id') continue
    table.report('/write', `New rows have no value for the column "${name}"`, {
      hint: `Add "${name}" to "write" or "set", or give the column a default`,
    })
  }
}
