import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Entry } from '../api/call.ts'
import { State } from '../components/badge.tsx'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { shortId } from '../components/release-link.tsx'
import { RollBackDialog, rollBackLabel } from '../components/roll-back-dialog.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { strings } from '../strings.ts'

interface Release extends Entry<'GET /release'> {
  /** Whether it is newer than the active release. */
  readonly isNewer: boolean
}

const { releases: texts } = strings

export function Page() {
  const [target, setTarget] = useState<Release>()
  const queries = useQueryClient()
  const mayRollBack = useHasScope('backend.deploy')
  return (
    <>
      <PageHeader title={strings.pages.releases} text={texts.text} mode={strings.mode.atOnce} />
      <DataTable
        label={strings.pages.releases}
        queryKey={['release']}
        load={(_query, signal) => loadReleases(signal)}
        rowKey={({ id }) => shortId(id)}
        rowLink={({ id }) => ({ to: '/releases/$id', params: { id } })}
        columns={[
          { name: 'id', label: texts.release, render: ({ id }) => <span className="mono">{shortId(id)}</span> },
          {
            name: 'state',
            label: texts.state,
            render: ({ is_active: isActive }) => (isActive ? <State tone="good">{texts.active}</State> : null),
          },
          { name: 'message', label: texts.message, render: ({ message }) => <bdi>{message ?? texts.noMessage}</bdi> },
          { name: 'kind', label: texts.how, isMinor: true, render: ({ kind }) => kinds[kind] ?? kind },
          { name: 'by', label: texts.by, render: ({ activated_by: by }) => <bdi>{by}</bdi> },
          { name: 'at', label: texts.at, render: ({ activated_at: at }) => <RelativeTime value={at} /> },
        ]}
        rowActions={(release) =>
          release.is_active || !mayRollBack
            ? []
            : [{ label: rollBackLabel(release.id, release.isNewer), run: () => setTarget(release) }]
        }
        empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
        refreshMs={10_000}
      />
      {target === undefined ? null : (
        <RollBackDialog
          id={target.id}
          isNewer={target.isNewer}
          onClose={() => setTarget(undefined)}
          onDone={() => queries.invalidateQueries({ queryKey: ['release'] })}
        />
      )}
    </>
  )
}

async function loadReleases(signal: AbortSignal): Promise<{ readonly entry: readonly Release[] }> {
  const { entry } = await call('GET /release', {}, signal)
  const active = entry.find((one) => one.is_active)
  return {
    entry: entry.map((one) => ({ ...one, isNewer: active !== undefined && one.created_at > active.created_at })),
  }
}

const kinds: Readonly<Record<string, string>> = {
  deploy: texts.deploy,
  rollback: texts.rollback,
  backend: texts.backend,
}
