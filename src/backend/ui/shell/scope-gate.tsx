import type { ReactNode } from 'react'
import { CommandHint } from '../components/copy.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { problemTexts } from '../components/problem-texts.ts'

/** Whether the signed-in user has a scope. The server decides; this only hides what would be refused. */
export function useHasScope(scope: string): boolean {
  return useStore(sessionStore)?.scopes.includes(scope) === true
}

interface ScopeGateProps {
  /** One of these is needed. */
  readonly scopes: readonly [string, ...string[]]
  /** Whether the user may open another page. */
  readonly hasPages: boolean
  readonly children: ReactNode
}

/** Shows a page, or which scope is missing and who can grant it. */
export function ScopeGate({ scopes, hasPages, children }: ScopeGateProps) {
  const session = useStore(sessionStore)
  if (scopes.some((scope) => session?.scopes.includes(scope))) return children
  const own = session?.scopes.filter((scope) => scope.startsWith('backend.')) ?? []
  const { forbidden, forbiddenText, noPages, grant } = problemTexts
  return (
    <EmptyState
      isPage
      title={forbidden}
      text={`${hasPages ? forbiddenText(scopes) : noPages(own, scopes[0])} ${grant}`}
      action={<CommandHint command={`waypost user:scopes ${session?.user.name ?? 'NAME'} --add ${scopes[0]}`} />}
    />
  )
}
