import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { State } from '../components/badge.tsx'
import { Users } from '../components/definition-parts.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { Plugins } from '../components/plugins.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { strings } from '../strings.ts'
import { build } from '../strings/build.ts'

const { settings: texts } = build
type Setting = Definition['settings'][number]
type Rate = Definition['rates'][number]

const SettingsEditor = lazy(async () => ({ default: (await import('../editors/settings.tsx')).SettingsEditor }))

export function Page() {
  return useCanEdit() ? <SettingsEditor /> : <SettingsView />
}

function SettingsView() {
  const { data, error, isError, refetch } = useQuery(definitionQuery)
  return (
    <>
      <PageHeader title={strings.pages.settings} text={texts.text} />
      {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
      <div className="stack-wide">
        <section>
          <h2>{texts.config}</h2>
          {data === undefined && !isError ? <Skeleton height={160} /> : null}
          {data === undefined ? null : <Settings settings={data.settings} />}
        </section>
        <section>
          <h2>{texts.rates}</h2>
          {data === undefined ? null : <Rates rates={data.rates} />}
        </section>
        <section>
          <h2>{texts.plugins}</h2>
          <Plugins />
        </section>
      </div>
    </>
  )
}

function write(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  return JSON.stringify(value)
}

/** Those that the project sets come first. */
function Settings({ settings }: { readonly settings: readonly Setting[] }) {
  const isSet = (setting: Setting) => 'value' in setting
  const sorted = settings.toSorted((a, b) => Number(isSet(b)) - Number(isSet(a)))
  if (settings.length === 0) return <p className="soft">{build.noRelease}</p>
  return (
    <PlainTable<Setting>
      label={texts.config}
      rows={sorted}
      rowKey={({ name }) => name}
      columns={[
        {
          name: 'name',
          label: texts.setting,
          width: '48%',
          render: ({ name, description }) => (
            <div>
              <p className="strong">{name}</p>
              <p className="soft">{description}</p>
            </div>
          ),
        },
        {
          name: 'value',
          label: texts.value,
          render: (setting) => (
            <code dir="auto" className="wrap">
              {write(isSet(setting) ? setting.value : setting.default)}
            </code>
          ),
        },
        {
          name: 'origin',
          label: texts.origin,
          render: (setting) =>
            isSet(setting) ? (
              <>
                <State tone="info">{texts.set}</State>{' '}
                <span className="soft">{texts.wasDefault(write(setting.default))}</span>
              </>
            ) : (
              <span className="soft">{texts.default}</span>
            ),
        },
      ]}
    />
  )
}

function Rates({ rates }: { readonly rates: readonly Rate[] }) {
  if (rates.length === 0) return <p className="soft">{texts.noRates}</p>
  return (
    <PlainTable<Rate>
      label={texts.rates}
      rows={rates}
      rowKey={({ name }) => name}
      columns={[
        { name: 'name', label: texts.rate, render: ({ name }) => <bdi className="strong">{name}</bdi> },
        { name: 'limit', label: texts.limit, render: ({ limit, window_ms: ms, by }) => texts.per(limit, ms, by) },
        {
          name: 'counted',
          label: texts.counted,
          render: ({ connection }) => (connection === null ? texts.eachServer : texts.allServers(connection)),
        },
        { name: 'users', label: build.usedBy, render: ({ used_by: users }) => <Users uses={users} limit={5} /> },
      ]}
    />
  )
}
