import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Entry } from '../api/call.ts'
import { State } from '../components/badge.tsx'
import { TablePage } from '../components/table-page.tsx'
import { CutText } from '../components/delivery.tsx'
import { NoRelease } from '../components/definition-parts.tsx'
import { listLocally } from '../components/local-list.ts'
import { shortId } from '../components/release-link.tsx'
import { RollBackDialog, rollBackLabel } from '../components/roll-back-dialog.tsx'
import { rollbackCheck } from '../components/rollback-obstacle.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useAdding } from '../components/use-adding.ts'
import { config } from '../config.ts'
import { useHasDraft } from '../edit/draft.ts'
import { OpenAsDraft } from '../publish/open-as-draft.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { releasesTexts as texts } from '../components/release-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { openTexts } from '../publish/publish-texts.ts'

interface Release extends Entry<'GET /release'> {
  /** Whether it is newer than the active release. */
  readonly isNewer: boolean
}

const kinds: Readonly<Record<string, string>> = {
  deploy: texts.deploy,
  rollback: texts.rollback,
  backend: texts.backend,
}
const lists = {
  textOf: ({ id, message, activated_by: by }: Release) => [id, message, by].join(' '),
  filters: { kind: ({ kind }: Release, value: string) => kind === value },
  sorts: {
    at: ({ activated_at: at }: Release) => at,
    by: ({ activated_by: by }: Release) => by,
  },
}

export function Page() {
  const [chosen, setChosen] = useState<Release>()
  const [isRollingBack, setRollingBack] = useAdding('rollback')
  const queries = useQueryClient()
  const releases = useQuery({
    queryKey: ['release', 'all'],
    queryFn: ({ signal }) => loadReleases(signal),
    enabled: isRollingBack,
  })
  const previous = isRollingBack ? findPrevious(releases.data) : undefined
  const target = chosen ?? previous
  const close = () => {
    setChosen(undefined)
    setRollingBack(false)
  }
  const mayRollBack = useHasScope('backend.deploy')
  const canOpen = useHasDraft() && !config.isDevelopment
  const [opened, setOpened] = useState<string>()
  return (
    <TablePage
      title={pageTitles.releases}
      text={texts.text}
      mode={modeTexts.atOnce}
      queryKey={['release']}
      load={async (query, signal) => listLocally(await loadReleases(signal), query, lists)}
      defaultSort="-at"
      rowKey={({ id }) => shortId(id)}
      rowLink={({ id }) => ({ to: '/releases/$id', params: { id } })}
      columns={[
        {
          name: 'id',
          label: texts.release,
          render: ({ id }) => (
            <span translate="no" className="mono">
              {shortId(id)}
            </span>
          ),
        },
        {
          name: 'state',
          label: texts.state,
          render: ({ is_active: isActive }) => (isActive ? <State tone="good">{texts.active}</State> : null),
        },
        { name: 'message', label: texts.message, width: '40%', render: ({ message }) => <Message text={message} /> },
        { name: 'kind', label: texts.how, isMinor: true, render: ({ kind }) => kinds[kind] ?? kind },
        { name: 'by', label: texts.by, isSortable: true, render: ({ activated_by: by }) => <CutText text={by} /> },
        {
          name: 'at',
          label: texts.at,
          isSortable: true,
          render: ({ activated_at: at }) => <RelativeTime value={at} />,
        },
      ]}
      rowActions={(release) =>
        release.is_active
          ? []
          : [
              ...(mayRollBack
                ? [
                    {
                      label: rollBackLabel(release.id, release.isNewer),
                      check: rollbackCheck(release.id),
                      run: () => setChosen(release),
                    },
                  ]
                : []),
              ...(canOpen ? [{ label: openTexts.action, run: () => setOpened(release.id) }] : []),
            ]
      }
      filters={[
        { name: 'search', label: texts.search },
        { name: 'kind', label: texts.how, options: kinds },
      ]}
      empty={<NoRelease />}
      refreshMs={10_000}
    >
      {opened === undefined ? null : <OpenAsDraft release={opened} onClose={() => setOpened(undefined)} />}
      {target === undefined ? null : (
        <RollBackDialog
          id={target.id}
          isNewer={target.isNewer}
          onClose={close}
          onDone={() => queries.invalidateQueries({ queryKey: ['release'] })}
        />
      )}
    </TablePage>
  )
}

/** The release before the active one. */
function findPrevious(releases: readonly Release[] = []): Release | undefined {
  const older = releases.filter((one) => !one.is_active && !one.isNewer)
  return older.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))[0]
}

async function loadReleases(signal: AbortSignal): Promise<readonly Release[]> {
  const { entry } = await call('GET /release', {}, signal)
  const active = entry.find((one) => one.is_active)
  return entry.map((one) => ({ ...one, isNewer: active !== undefined && one.created_at > active.created_at }))
}

function Message({ text }: { readonly text: string | null }) {
  return text === null ? null : (
    <bdi className="lines-2" title={text}>
      {text}
    </bdi>
  )
}
