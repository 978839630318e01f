import { PageHeader } from '../components/page-header.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { strings } from '../strings.ts'

export function Page() {
  const session = useStore(sessionStore)
  return (
    <>
      <PageHeader title={strings.pages.overview} />
      <EmptyState title={strings.overview.hello(session?.user.name ?? '')} text={strings.overview.text} />
    </>
  )
}
