import type { Context, DatabaseKind } from 'waypost'
import { makeRowsInsert } from '../insert-rows.ts'
import { parentParameter, type ChildrenPlan, type TablePlan } from '../plan.ts'
import { makeReadAgain } from '../read-again.ts'
import { makeRowsText } from '../respond-row.ts'
import { makeAccess, makeDatabaseOpener, type Row, type TableDatabase } from '../run.ts'
import type { Input } from '../statement-values.ts'

interface Family {
  readonly parent: Row
  readonly input: Input
  readonly context: Context
}

/** The JSON of inserted children, by the name of their property. */
export interface ChildTexts {
  readonly texts: readonly string[]
  readonly unfit: string | undefined
}

/** Returns a function that inserts the children in the body of a request, in the transaction of the row that they refer to. */
export function makeChildrenInsert({ children = [] }: TablePlan, kind: DatabaseKind) {
  const inserts = children.map((child) => ({ child, insert: makeInsert(child, kind) }))
  const isSent = ({ name }: ChildrenPlan, body: Row) => Object.hasOwn(body, name)
  return {
    /** Whether a body has children. @throws a problem with status 403 if the caller may not insert them */
    hasAny(body: Row, context: Context): boolean {
      const sent = children.filter((child) => isSent(child, body))
      for (const child of sent) assertAllowed(child, context)
      return sent.length > 0
    },
    async insert(database: TableDatabase, family: Family): Promise<ChildTexts> {
      const texts: string[] = []
      let unfit: string | undefined
      for (const { child, insert } of inserts) {
        if (!isSent(child, family.input.body)) continue
        const found = await insert(database, family)
        texts.push(`${JSON.stringify(child.name)}:{"entry":${found.text},"more":false}`)
        if (found.unfit !== undefined) unfit = `${child.name}.${found.unfit}`
      }
      return { texts, unfit }
    },
  }
}

function assertAllowed({ name, scopes }: ChildrenPlan, { principal, problem }: Context): void {
  if (scopes === undefined) return
  const isAllowed =
    scopes.length === 0 ? principal !== undefined : scopes.some((one) => principal?.scopes.includes(one))
  if (!isAllowed) throw problem(403, `You may not insert "${name}"`)
}

function makeInsert({ name, own, plan, columns }: ChildrenPlan, kind: DatabaseKind) {
  const open = makeDatabaseOpener(plan, kind)
  const accessOf = makeAccess(plan)
  const insertRows = makeRowsInsert(plan, kind)
  const prepareReading = makeReadAgain(plan, kind)
  const toText = makeRowsText(plan, columns)
  return async (within: TableDatabase, { parent, input, context }: Family) => {
    const sent = input.body[name] as readonly Row[]
    if (sent.length === 0) return { text: '[]', unfit: undefined }
    const database = open(context, within)
    const access = accessOf(context.principal)
    const childInput = { ...input, params: { ...input.params, [parentParameter]: parent[own] }, body: {} }
    const readAgain = await prepareReading(database, childInput, context)
    const inserted = await insertRows(database, { sent, input: childInput, access, context, at: [name] })
    return toText(await readAgain(inserted, access), context)
  }
}
