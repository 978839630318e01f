import { useParams } from '@tanstack/react-router'
import { lazy } from 'react'
import { EmptyState } from '../components/empty-state.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { strings } from '../strings.ts'
import { editing } from '../strings/editing.ts'

const ScopeEditor = lazy(async () => ({ default: (await import('../editors/scope.tsx')).ScopeEditor }))

/** Only where it can be edited: the list shows all there is to a scope. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  if (useCanEdit()) return <ScopeEditor name={name} key={name} />
  return (
    <EmptyState
      title={name}
      text={editing.entry.scope.readOnly}
      link={{ to: '/scopes', label: strings.access.pages.scopes }}
    />
  )
}
