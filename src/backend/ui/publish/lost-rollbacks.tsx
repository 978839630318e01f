import { shortId } from '../components/release-link.tsx'
import type { Plan } from './api.ts'

const texts = {
  lost: (migrations: readonly string[], count: number) =>
    `After ${migrations.join(', ')} you cannot roll back to ${count === 1 ? 'the earlier release' : `any of the ${count} earlier releases`} below. To undo it, publish a correction.`,
  reachable: (ids: readonly string[]) => `You can still roll back to ${ids.join(', ')}.`,
} as const

/** Says which earlier releases a rollback can no longer return to after publishing. */
export function LostRollbacks({ rollbacks }: Pick<Plan, 'rollbacks'>) {
  const { lost, reachable, migrations } = rollbacks
  if (lost.length === 0) return null
  return (
    <div className="warnings" dir="auto">
      <p>{texts.lost(migrations, lost.length)}</p>
      <p translate="no" className="mono">
        {lost.map(shortId).join(', ')}
      </p>
      {reachable.length === 0 ? null : <p>{texts.reachable(reachable.map(shortId))}</p>}
    </div>
  )
}
