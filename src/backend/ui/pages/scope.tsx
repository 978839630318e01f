import { useParams } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { pageTitles } from '../page-titles.ts'
import { scopeTexts } from './scope-texts.ts'

const ScopeEditor = lazyPart(() => import('../editors/scope.tsx'), 'ScopeEditor')

/** Only where it can be edited: the list shows all there is to a scope. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  if (useCanEdit()) return <ScopeEditor name={name} key={name} />
  return <EmptyState title={name} text={scopeTexts.readOnly} link={{ to: '/scopes', label: pageTitles.scopes }} />
}
