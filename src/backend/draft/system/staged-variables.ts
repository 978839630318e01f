import { openIdentity, type Host } from '../../../host/index.ts'
import { assertVariable } from '../../../operate/index.ts'
import { listServerVariables, loadActiveRelease } from '../../../release/index.ts'
import { errors } from '../../errors.ts'
import type { DraftAuthor } from '../draft.ts'

/** A variable that publishing the draft sets. */
export interface StagedVariable {
  readonly name: string
  readonly by: string
  /** In milliseconds since 1970. */
  readonly changedAt: number
}

/** The place of a staged variable in System. Its encrypted value is bound to its name. */
const placeOfStaged = (name: string) => ({ table: 'waypost_draft_variable', column: 'value', row: name }) as const

/** Decrypts all staged variables. @throws the errors of `openIdentity` */
export async function loadStagedVariables(host: Host): Promise<Readonly<Record<string, string>>> {
  const rows = await host.system.db.selectFrom('waypost_draft_variable').select(['id', 'value']).execute()
  if (rows.length === 0) return {}
  const { secrets } = await openIdentity(host)
  return Object.fromEntries(rows.map(({ id, value }) => [id, secrets.unseal(value, placeOfStaged(id))]))
}

export async function listStagedVariables({ system }: Pick<Host, 'system'>): Promise<readonly StagedVariable[]> {
  const rows = await system.db
    .selectFrom('waypost_draft_variable')
    .select(['id as name', 'changed_by as by', 'changed_at as changedAt'])
    .orderBy('id')
    .execute()
  return rows
}

const maxStaged = 200

/**
 * Keeps the value of a variable until the draft is published, encrypted.
 * @returns the name to use in the definition: another one if a server, System or the active release has this one
 * @throws WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED, WP_SERVER_VARIABLE_VALUE, WP_BACKEND_DRAFT_VARIABLE, and
 * the errors of `openIdentity`
 */
export async function stageVariable(
  host: Host,
  { name: wanted, value }: { readonly name: string; readonly value: string },
  by: DraftAuthor,
): Promise<string> {
  assertVariable(wanted, value)
  const staged = await listStagedVariables(host)
  const name = chooseName(wanted, await listUsedNames(host))
  assertVariable(name, value)
  if (staged.length >= maxStaged && staged.every((one) => one.name !== name))
    throw errors.WP_BACKEND_DRAFT_VARIABLE({ name, reason: `the draft already has ${maxStaged} variables` })
  const { secrets } = await openIdentity(host)
  const { system } = host
  const row = {
    value: secrets.seal(value, placeOfStaged(name)),
    changed_at: system.now(),
    changed_by: by.name,
  }
  await system.db
    .insertInto('waypost_draft_variable')
    .values({ id: name, ...row })
    .onConflict((on) => on.column('id').doUpdateSet(row))
    .execute()
  return name
}

/** Names that are already in use. Publishing must not replace their values. */
async function listUsedNames({ system }: Host): Promise<ReadonlySet<string>> {
  const active = await loadActiveRelease(system)
  const live = await system.db.selectFrom('waypost_variable').select('id').execute()
  const servers = await listServerVariables(system)
  return new Set([
    ...Object.keys(active?.manifest.variables ?? {}),
    ...live.map(({ id }) => id),
    ...servers.flatMap(({ has }) => [...has]),
  ])
}

function chooseName(wanted: string, used: ReadonlySet<string>): string {
  if (!used.has(wanted)) return wanted
  const stem = wanted.replace(/_\d+$/, '')
  for (let number = 2; ; number += 1) if (!used.has(`${stem}_${number}`)) return `${stem}_${number}`
}
