import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import type { Obstacle } from './obstacle.ts'
import { describeProblem, endSentence } from './problem.tsx'
import { rollBackTexts } from './release-texts.ts'

interface Reason {
  readonly message: string
  readonly hint?: string | null | undefined
}

/** The check of a rollback to a release: its data say why it is not possible, or are null. */
export function rollbackCheck(id: string) {
  return {
    queryKey: ['release', id, 'obstacle'],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<string | null> => {
      try {
        const { problem } = await call('GET /release/:id/rollback', { params: { id } }, signal)
        return problem === null ? null : describeReason(problem)
      } catch (error) {
        if (signal.aborted) throw error
        return describeReason(describeProblem(error))
      }
    },
    staleTime: 0, // migrations and servers change the result, and nothing tells the page
  }
}

/** Returns what keeps a button from rolling back to a release. Without an id, nothing is checked. */
export function useRollbackObstacle(id: string | undefined): Obstacle {
  const { data } = useQuery({ ...rollbackCheck(id ?? ''), enabled: id !== undefined })
  return { isChecking: data === undefined, text: data ?? undefined }
}

function describeReason({ message, hint }: Reason): string {
  const texts = [message, hint].flatMap((text) => (typeof text === 'string' ? [endSentence(text)] : []))
  return [rollBackTexts.blocked, ...texts].join(' ')
}

interface RollBackButtonProps {
  readonly label: string
  readonly obstacle: Obstacle
  /** The id of the element with the text of the obstacle. */
  readonly reasonId: string
  onClick(): void
}

/** A button that stays focusable where the rollback is not possible, so that screen readers read the reason. */
export function RollBackButton({ label, obstacle: { isChecking, text }, reasonId, onClick }: RollBackButtonProps) {
  const isBlocked = isChecking || text !== undefined
  return (
    <Button
      {...(isBlocked ? { 'data-disabled': true, 'aria-disabled': true } : {})}
      {...(text === undefined ? {} : { 'aria-describedby': reasonId })}
      aria-busy={isChecking}
      onClick={() => {
        if (!isBlocked) onClick()
      }}
    >
      {label}
    </Button>
  )
}
