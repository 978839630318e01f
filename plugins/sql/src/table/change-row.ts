import type { Context, DatabaseKind } from 'waypost'
import { checkNoneMatch, readCondition } from './if-match.ts'
import type { TablePlan } from './plan.ts'
import { makeReadAgain } from './read-again.ts'
import { findRefusals, makeRemoval } from './remove-row.ts'
import { etagOf, makeResponse, notFound } from './respond-row.ts'
import {
  makeAccess,
  makeDatabaseOpener,
  makeInput,
  makeSuppressed,
  type Handler,
  type Row,
  type TableDatabase,
} from './run.ts'
import type { Input } from './statement-values.ts'
import type { ChangeCondition } from './row-conditions.ts'
import { isTrue, policyAlias, versionAlias } from './statements.ts'
import { explainMissing, findWritten, nameChange } from './written.ts'

/** Makes the handler of PUT, PATCH and DELETE. */
export function makeChangeHandler(plan: TablePlan, kind: DatabaseKind): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const toResponse = makeResponse(plan)
  const accessOf = makeAccess(plan)
  const isRemoving = plan.operation === 'delete' && Object.keys(plan.set).length === 0
  const remove = makeRemoval()
  const prepareReading = makeReadAgain(plan, kind)
  return async (request, context) => {
    const database = open(context)
    const access = accessOf(context.principal)
    const sent = makeInput(request, context)
    const allowed = readCondition(plan, request, context)
    const seen = await checkNoneMatch(plan, request, { database, access, input: sent, context })
    const versions = seen?.filter((one) => allowed === undefined || allowed.includes(one)) ?? allowed
    const input = { ...sent, ...(versions && { versions }) }
    const written = plan.write.filter((name) => Object.hasOwn(input.body, name))
    const references = isRemoving ? [] : findWritten(plan, written, input.body)
    const change: ChangeCondition = {
      access,
      versions: versions && (versions.length === 1 ? 'one' : 'several'),
      written,
      references: references.filter(({ inPath }) => !inPath), // others are conditions of all statements
    }
    const readAgain = plan.operation === 'delete' ? undefined : await prepareReading(database, input, context)
    const key = nameChange(plan, change)
    const [row] = isRemoving
      ? await remove(database, { key, change, input })
      : await database.run(key, (writer) => writer.update(change), input)
    if (row === undefined) {
      const [found] = await database.run(`find ${key}`, (writer) => writer.find(change), input)
      if (found === undefined) throw notFound(context)
      const isOther = versions !== undefined && !versions.includes(BigInt(found[versionAlias] as string | number))
      if (isOther) throw context.problem(412, 'The resource has been changed')
      const missing = explainMissing(plan, { references: change.references, seen: found, context })
      throw missing ?? (await explainUnchanged(plan, { database, input, context }))
    }
    if (readAgain === undefined) return context.respond(204)
    const [stored] = (await readAgain([row], access)) as readonly [Row]
    const etag = etagOf(plan, stored)
    return etag === undefined
      ? toResponse(stored, context)
      : context.respond(200, toResponse(stored, context), { etag })
  }
}

interface Changing {
  readonly database: TableDatabase
  readonly input: Input
  readonly context: Context
}

/** Returns the error of a change that changed nothing, although the row exists and it refers to rows that exist. */
async function explainUnchanged(plan: TablePlan, { database, input, context }: Changing): Promise<Error> {
  const isRestricted = database.kind === 'postgresql' && isTrue((await findRefusals(database, input))[policyAlias])
  if (isRestricted) return context.problem(403, 'A policy of the database does not allow this change')
  return makeSuppressed(plan, context)
}
