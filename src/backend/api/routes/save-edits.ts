import { Type } from 'typebox'
import type { Principal } from '../../../contract/index.ts'
import { planRequested } from '../../draft/plan-requested.ts'
import type { RequestedEdits } from '../../draft/plan-edits.ts'
import { saveChange } from '../../draft/save-changes.ts'
import { errors, ProblemWith } from '../../errors.ts'
import type { AdminSources } from '../route.ts'
import { respondSaved, draftOf, refuseAsProblem } from './draft-shapes.ts'

/** Plans edits of values and files against the draft, and saves them: all or nothing. */
export async function saveEdits(
  call: Pick<AdminSources, 'draft' | 'host'> & { readonly principal: Principal },
  request: RequestedEdits,
  withErrors: boolean | undefined,
) {
  const saved = await saveChange(
    draftOf(call),
    async (files) => {
      const planned = await refuseAsProblem(() => planRequested(draftOf(call), files, request))
      if ('conflicts' in planned) throw new ProblemWith(errors.WP_BACKEND_CHANGED(), planned)
      const { tables } = draftOf(call)
      for (const one of planned.changes)
        if (await tables.isFrozen(one)) throw errors.WP_BACKEND_DRAFT_MIGRATION({ file: one.file })
      return { ...planned, tables: await tables.loadAfter(planned.changes) }
    },
    { withErrors, by: call.principal.user },
  )
  return respondSaved(call, saved, saved.plan)
}

/** The condition of If-Match, for a single edit. */
export function conditionOf({ condition }: { readonly condition: string | null | undefined }) {
  return condition === undefined ? {} : { if: condition }
}

/** The query of routes that also save what causes new errors. */
export const ignoringErrors = { with_errors: Type.Optional(Type.Literal('true')) }
