import {
  findLocalSources,
  joinWords,
  makeUuid,
  readSources,
  variable,
  type LocalSource,
  type VariableType,
} from '../kit/index.ts'
import { openIdentity, sealVariable, type Host } from '../host/index.ts'
import { findVariableUses, listServerVariables, loadActiveRelease } from '../release/index.ts'
import { recordChanges } from '../store/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'
import { errors } from './errors.ts'

export type VariableSource = LocalSource | 'System'

/** A variable that System has or that the active release uses, without its value. */
export interface ListedVariable {
  readonly name: string
  /** As declared below `env:` of the active release. */
  readonly description: string | undefined
  /** As declared there. */
  readonly type: VariableType | undefined
  /** Where it is set, as seen from this host. The first one takes precedence. */
  readonly set: readonly VariableSource[]
  /** The live servers on whose hosts it is set, which takes precedence over System there. */
  readonly setOn: readonly string[]
  /** Where the active release uses it: `actions`, `connection Orders`, `setting docs`. */
  readonly uses: readonly string[]
  /** Whether the active release has no default for it. */
  readonly isRequired: boolean
  /** Whether it is required and a live server, or this host if there is none, does not have it. */
  readonly isMissing: boolean
  /** Whether it would be missing without the value in System. */
  readonly isNeeded: boolean
  /** The last change in System. */
  readonly changed: { readonly at: number; readonly by: string } | undefined
}

/** Lists the variables that System has or that the active release uses, by name. */
export async function listHostVariables(host: Host): Promise<readonly ListedVariable[]> {
  const { system, environment } = host
  const manifest = (await loadActiveRelease(system))?.manifest
  const rows = await system.db.selectFrom('waypost_variable').select(['id', 'changed_at', 'changed_by']).execute()
  const stored = new Map(rows.map((row) => [row.id, row]))
  const servers = await listServerVariables(system)
  const sources = readSources(host.folder, host.envFiles)
  const names = new Set([...stored.keys(), ...Object.keys(manifest?.variables ?? {})])
  return [...names].toSorted().map((name) => {
    const use = manifest !== undefined && Object.hasOwn(manifest.variables, name) ? manifest.variables[name] : undefined
    const row = stored.get(name)
    const here = variable(environment, name) === undefined ? [] : findHere(sources, name)
    const isRequired = use !== undefined && !use.optional
    const isSetEverywhere = servers.length === 0 ? here.length > 0 : servers.every(({ has }) => has.has(name))
    return {
      name,
      description: use?.declared?.description,
      type: use?.declared?.type,
      set: row === undefined ? here : [...here, 'System' as const],
      setOn: servers.filter(({ has }) => has.has(name)).map((server) => server.name),
      uses: manifest === undefined || use === undefined ? [] : findVariableUses(manifest, name),
      isRequired,
      isMissing: isRequired && !isSetEverywhere && row === undefined,
      isNeeded: isRequired && !isSetEverywhere && row !== undefined,
      changed: row && { at: row.changed_at, by: row.changed_by },
    }
  })
}

/** Returns where this host sets a variable. What no file sets was given to the process. */
function findHere(sources: ReturnType<typeof readSources>, name: string): readonly LocalSource[] {
  const found = findLocalSources(sources, name)
  return found.length === 0 ? ['environment'] : found
}

/** @throws WP_SERVER_VARIABLE_UNSET if System does not have it */
export async function findHostVariable(host: Host, name: string): Promise<ListedVariable> {
  const found = (await listHostVariables(host)).find((one) => one.name === name)
  if (found?.changed === undefined) throw errors.WP_SERVER_VARIABLE_UNSET({ name: shorten(name) })
  return found
}

const maxNameLength = 128
const maxBytes = 64 * 1024
/** The variables that Waypost reads on each host before it opens System, or without it. */
const ownNames = /^(WAYPOST_.*|OTEL_.*|(OPS_)?(PORT|HOST)|LOG_LEVEL)$/

/** Shortens a name for messages. What follows "=" is probably a value, which must not be printed. */
function shorten(name: string): string {
  return name.split('=', 1)[0]!.slice(0, maxNameLength)
}

/** @throws WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED */
export function assertVariableName(name: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.length > maxNameLength)
    throw errors.WP_SERVER_VARIABLE_NAME({ name: shorten(name) })
  if (ownNames.test(name)) throw errors.WP_SERVER_VARIABLE_RESERVED({ name })
}

/** @throws WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED, WP_SERVER_VARIABLE_VALUE */
export function assertVariable(name: string, value: string): void {
  assertVariableName(name)
  if (value === '') throw errors.WP_SERVER_VARIABLE_VALUE({ name, problem: 'is empty' })
  if (Buffer.byteLength(value) > maxBytes)
    throw errors.WP_SERVER_VARIABLE_VALUE({ name, problem: `has more than ${maxBytes.toLocaleString('en')} bytes` })
}

/**
 * Sets a variable in System, encrypted. Every running server applies it immediately, unless its host sets the variable.
 * @returns the variable after the change
 * @throws WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED, WP_SERVER_VARIABLE_VALUE, and the errors of
 * `openIdentity`
 */
export async function setHostVariable(
  host: ActingHost,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<ListedVariable> {
  assertVariable(name, value)
  await storeHostVariable(host, { name, value })
  return (await listHostVariables(host)).find((one) => one.name === name)!
}

/** Stores a variable that was checked, encrypted, and notifies all servers. */
export async function storeHostVariable(
  host: ActingHost,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<void> {
  const { secrets } = await openIdentity(host)
  await changeSystem(host, async (system, audit) => {
    const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
    const row = {
      value: sealVariable(secrets, name, value),
      revision: makeUuid(),
      changed_at: now,
      changed_by: host.actor.name,
    }
    await system.db
      .insertInto('waypost_variable')
      .values({ id: name, ...row })
      .onConflict((on) => on.column('id').doUpdateSet(row))
      .execute()
    await audit({ action: 'variable.set', subject: { id: name, name } })
    await system.transaction((trx) => recordChanges(system, trx, [{ kind: 'variable', subject: name }]))
  })
}

/**
 * Removes a variable from System.
 * @param isForced also if the active release requires it and nothing else sets it
 * @returns the variable after the change
 * @throws WP_SERVER_VARIABLE_UNSET, WP_SERVER_VARIABLE_NEEDED
 */
export async function unsetHostVariable(
  host: ActingHost,
  { name, isForced }: { readonly name: string; readonly isForced: boolean },
): Promise<ListedVariable> {
  const known = await findHostVariable(host, name)
  if (known.isNeeded && !isForced) throw errors.WP_SERVER_VARIABLE_NEEDED({ name, uses: joinWords(known.uses) })
  await changeSystem(host, async (system, audit) => {
    const removed = await system.db.deleteFrom('waypost_variable').where('id', '=', name).executeTakeFirstOrThrow()
    if (removed.numDeletedRows === 0n) return
    await audit({ action: 'variable.unset', subject: { id: name, name } })
    await system.transaction((trx) => recordChanges(system, trx, [{ kind: 'variable', subject: name }]))
  })
  const set = known.set.filter((source) => source !== 'System')
  return { ...known, set, isMissing: known.isNeeded, isNeeded: false, changed: undefined }
}
