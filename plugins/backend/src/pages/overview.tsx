import { useQuery } from '@tanstack/react-query'
import { send } from '../api/send.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { strings } from '../strings.ts'

interface Account {
  readonly server: { readonly version: string }
}

export function Page() {
  const session = useStore(sessionStore)
  const account = useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => send<Account>('GET', 'account', { signal }),
    staleTime: 0,
  })
  return (
    <>
      <PageHeader
        title={strings.pages.overview}
        text={account.data === undefined ? '' : strings.overview.server(account.data.server.version)}
      />
      {account.isError ? <ProblemAlert error={account.error} onRetry={() => void account.refetch()} /> : null}
      <EmptyState title={strings.overview.hello(session?.user.name ?? '')} text={strings.overview.text} />
    </>
  )
}
