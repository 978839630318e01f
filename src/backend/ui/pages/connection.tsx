import { useParams } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { connectionTexts } from '../components/connection-texts.ts'
import { pageTitles } from '../page-titles.ts'

const ConnectionEditor = lazyPart(() => import('../editors/connection.tsx'), 'ConnectionEditor')

/** Only where it can be edited: the list shows all there is to a connection. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  if (useCanEdit()) return <ConnectionEditor name={name} key={name} />
  return (
    <EmptyState
      title={name}
      text={connectionTexts.readOnly}
      link={{ to: '/connections', label: pageTitles.connections }}
    />
  )
}
