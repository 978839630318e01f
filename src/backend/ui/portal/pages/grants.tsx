import { Button, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { announce } from '../../components/announce.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { Ends, nameOf, ScopeList } from '../access.tsx'
import type { ClientReference, Grant, List } from '../api.ts'
import { scopesTexts } from '../access-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const texts = {
  text: 'Clients of other people that may use this API with your account.',
  since: 'Connected',
  used: 'Last used',
  never: 'Never used',
  withdraw: 'Withdraw access',
  withdrawTitle: (name: string) => `Withdraw the access of ${name}?`,
  withdrawText: 'This takes effect immediately:',
  withdrawEnds: [
    'All its tokens for your account are revoked.',
    'The subscriptions that it created for you are deleted.',
  ],
  withdrawThen: 'If you use the client again, it asks you for access.',
  withdrawn: (name: string) => `Withdrew the access of ${name}`,
  empty: 'No connected clients',
  emptyText:
    'When you use this account to sign in to a website or app that belongs to someone else, you allow it to use this API for you. It then appears here as a client, and you can withdraw its access.',
} as const

/** The apps of others that the user allowed to use the API. */
export function Page() {
  const [withdrawing, setWithdrawing] = useState<ClientReference>()
  const grants = useQuery({
    queryKey: ['grant'],
    queryFn: ({ signal }) => send<List<Grant>>('GET', 'grant', { signal }),
    staleTime: 0, // apps are connected in other windows
  })
  return (
    <>
      <PageHeader title={pagesTexts.grants} text={texts.text} />
      {grants.isError ? <ProblemAlert error={grants.error} onRetry={() => void grants.refetch()} /> : null}
      {grants.isPending ? <Skeleton height={160} className="form" /> : null}
      {grants.data?.entry.length === 0 ? <EmptyState title={texts.empty} text={texts.emptyText} /> : null}
      <ul className="portal-apps" aria-label={pagesTexts.grants} hidden={(grants.data?.entry.length ?? 0) === 0}>
        {grants.data?.entry.map((grant) => (
          <App key={grant.client.id} grant={grant} onWithdraw={() => setWithdrawing(grant.client)} />
        ))}
      </ul>
      {withdrawing === undefined ? null : <Withdraw client={withdrawing} onClose={() => setWithdrawing(undefined)} />}
    </>
  )
}

function App({ grant, onWithdraw }: { readonly grant: Grant; onWithdraw(): void }) {
  const { client, scopes, since, last_used: used } = grant
  const name = nameOf(client)
  return (
    <li className="stack-small" aria-labelledby={`app-${client.id}`}>
      <div className="section-header">
        <h2 id={`app-${client.id}`} dir="auto">
          {name}
        </h2>
        <Button variant="default" onClick={onWithdraw} aria-label={`${texts.withdraw}: ${name}`}>
          {texts.withdraw}
        </Button>
      </div>
      <p className="soft">
        {texts.since} <RelativeTime value={since} /> ·{' '}
        {used === null ? (
          texts.never
        ) : (
          <>
            {texts.used} <RelativeTime value={used} />
          </>
        )}
      </p>
      <ScopeList scopes={scopes} label={scopesTexts.title} />
    </li>
  )
}

function Withdraw({ client, onClose }: { readonly client: ClientReference; onClose(): void }) {
  const name = nameOf(client)
  const queries = useQueryClient()
  return (
    <ConfirmDialog
      title={texts.withdrawTitle(name)}
      action={texts.withdraw}
      isDanger
      onConfirm={async () => {
        await send('DELETE', `grant/${encodeURIComponent(client.id)}`)
        announce(texts.withdrawn(name))
        await queries.invalidateQueries()
      }}
      onClose={onClose}
    >
      <Ends text={texts.withdrawText} items={texts.withdrawEnds} then={texts.withdrawThen} />
    </ConfirmDialog>
  )
}
