import { shortId } from '../components/release-link.tsx'
import { publish } from '../strings/publish.ts'
import type { Plan } from './api.ts'

const { rollbacks: texts } = publish

/** Says which earlier releases a rollback can no longer return to after publishing. */
export function LostRollbacks({ rollbacks }: Pick<Plan, 'rollbacks'>) {
  const { lost, reachable, migrations } = rollbacks
  if (lost.length === 0) return null
  return (
    <div className="warnings" dir="auto">
      <p>{texts.lost(migrations, lost.length)}</p>
      <p className="mono">{lost.map(shortId).join(', ')}</p>
      {reachable.length === 0 ? null : <p>{texts.reachable(reachable.map(shortId))}</p>}
    </div>
  )
}
