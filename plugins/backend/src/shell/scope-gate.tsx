import type { ReactNode } from 'react'
import { EmptyState } from '../components/empty-state.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { strings } from '../strings.ts'

/** Whether the signed-in user has a scope. The server decides; this only hides what would be refused. */
export function useHasScope(scope: string): boolean {
  return useStore(sessionStore)?.scopes.includes(scope) === true
}

export function ScopeGate({ scope, children }: { readonly scope: string; readonly children: ReactNode }) {
  if (useHasScope(scope)) return children
  return <EmptyState title={strings.problem.forbidden} text={strings.problem.forbiddenText(scope)} />
}
