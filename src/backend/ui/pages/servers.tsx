import { call, type Entry } from '../api/call.ts'
import { State, type Tone } from '../components/badge.tsx'
import { TablePage } from '../components/table-page.tsx'
import { CutText } from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { listLocally } from '../components/local-list.ts'
import { ReleaseLink } from '../components/release-link.tsx'
import { RelativeTime } from '../components/time.tsx'
import { pageTitles } from '../page-titles.ts'

const texts = {
  text: 'Every server that uses this database, with the release that it serves.',
  search: 'Search',
  name: 'Server',
  state: 'State',
  release: 'Release',
  none: 'none',
  wants: 'Active release:',
  noRelease: 'no release yet',
  version: 'Version',
  since: 'In this state since',
  seen: 'Last seen',
  empty: 'No servers',
  emptyText: 'Servers appear here when they start.',
} as const

type Server = Entry<'GET /server'>

const tones: Readonly<Record<string, Tone>> = { serving: 'good', failed: 'bad', silent: 'bad' }
const refreshMs = 5000
const lists = {
  textOf: ({ name, state, version, release, error }: Server) => [name, state, version, release, error].join(' '),
  sorts: {
    name: ({ name }: Server) => name,
    state: ({ state }: Server) => state,
    seen: ({ heartbeat_at: seen }: Server) => seen,
  },
}

export function Page() {
  return (
    <TablePage
      title={pageTitles.servers}
      text={texts.text}
      queryKey={['server']}
      load={async (query, signal) => listLocally((await call('GET /server', {}, signal)).entry, query, lists)}
      rowKey={({ name, heartbeat_at: beat, state }) => `${name} ${state === 'silent' ? beat : ''}`}
      columns={[
        {
          name: 'name',
          label: texts.name,
          isSortable: true,
          render: ({ name }) => (
            <span className="strong">
              <CutText text={name} />
            </span>
          ),
        },
        {
          name: 'state',
          label: texts.state,
          isSortable: true,
          width: '32%',
          render: (server) => <ServerState server={server} />,
        },
        {
          name: 'release',
          label: texts.release,
          render: ({ release }) => (release === null ? texts.none : <ReleaseLink id={release} />),
        },
        { name: 'version', label: texts.version, isMinor: true, render: ({ version }) => version },
        {
          name: 'since',
          label: texts.since,
          isMinor: true,
          render: ({ state_at: since }) => <RelativeTime value={since} />,
        },
        {
          name: 'seen',
          label: texts.seen,
          isSortable: true,
          render: ({ heartbeat_at: seen }) => <RelativeTime value={seen} />,
        },
      ]}
      filters={[{ name: 'search', label: texts.search }]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
      refreshMs={refreshMs}
    />
  )
}

function ServerState({ server: { state, error, wanted, release } }: { readonly server: Server }) {
  const isWaiting = wanted !== null && wanted !== release
  // The server responds to requests, but has nothing to serve.
  if (state === 'starting' && wanted === null) return <State tone="quiet">{texts.noRelease}</State>
  return (
    <>
      <State tone={tones[state] ?? 'warn'}>{state}</State>
      {isWaiting ? (
        <p className="soft">
          {texts.wants} <ReleaseLink id={wanted} />
        </p>
      ) : null}
      {error === null ? null : (
        <p className="soft" dir="auto">
          {error}
        </p>
      )}
    </>
  )
}
