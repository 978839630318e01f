import { Problem } from '../api/send.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { useCrumbTitle } from '../shell/breadcrumbs.tsx'
import { problemTexts } from '../components/problem-texts.ts'

interface LoadProblemProps {
  readonly error: unknown
  /** Why there may be no such thing. */
  readonly text: string
  readonly link: { readonly to: string; readonly label: string }
  onRetry(): void
}

/** Shown instead of the page of one thing: it does not exist, or loading it failed. */
export function LoadProblem({ error, text, link, onRetry }: LoadProblemProps) {
  const isMissing = error instanceof Problem && error.status === 404
  useCrumbTitle(isMissing ? problemTexts.notFound : undefined)
  if (isMissing) return <EmptyState isPage title={problemTexts.notFound} text={text} link={link} />
  return <ProblemAlert error={error} onRetry={onRetry} />
}
