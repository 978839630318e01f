import type { Context } from 'waypost'
import { parseEntityTags, readVersions } from './etag.ts'
import type { TablePlan } from './plan.ts'
import { notFound } from './respond-row.ts'
import type { Access } from './row-conditions.ts'
import type { TableDatabase, TableRequest } from './run.ts'
import type { Input } from './statement-values.ts'
import { versionAlias, type StatementWriter } from './statements.ts'

/** Returns the versions that If-Match allows; undefined for all. */
export function readCondition(
  plan: TablePlan,
  { headers }: TableRequest,
  context: Context,
): readonly bigint[] | undefined {
  if (plan.version === undefined) return undefined
  const header = headers['if-match']
  if (header === undefined) {
    if (plan.version.required) throw context.problem(428, 'Send If-Match with the ETag of the resource')
    return undefined
  }
  const tags = parseEntityTags(String(header), 'strong')
  if (tags === undefined) throw context.problem(400, 'If-Match must be "*" or a list of ETags in quotes')
  return tags === '*' ? undefined : readVersions(tags, plan.types[plan.version.column]!.type)
}

interface Checking {
  readonly database: TableDatabase
  readonly access: Access
  readonly input: Input
  readonly context: Context
}

/**
 * Rejects a change of a row that If-None-Match names: of any row with `*`, or of one with such a version.
 * @returns the version of the row that was found, which must not change any more; undefined without a condition
 */
export async function checkNoneMatch(
  plan: TablePlan,
  { headers }: TableRequest,
  { database, access, input, context }: Checking,
): Promise<readonly bigint[] | undefined> {
  const header = headers['if-none-match']
  if (header === undefined) return undefined
  const tags = parseEntityTags(String(header), 'weak')
  if (tags === undefined) throw context.problem(400, 'If-None-Match must be "*" or a list of ETags in quotes')
  if (tags !== '*' && plan.version === undefined) return undefined // rows have no ETag that it could name
  const find = (writer: StatementWriter) => writer.find({ access, written: [], references: [] })
  const [row] = await database.run(`exists ${access.join()}`, find, input)
  if (row === undefined) throw notFound(context)
  const version = String(row[versionAlias])
  if (tags === '*' || tags.includes(version)) throw context.problem(412, 'The resource matches If-None-Match')
  return [BigInt(version)]
}
