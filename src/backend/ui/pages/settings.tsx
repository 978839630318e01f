import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazyPart } from '../components/lazy-part.tsx'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { State } from '../components/badge.tsx'
import { Users } from '../components/definition-parts.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { Plugins } from '../components/plugins.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { groupSettings } from '../components/setting-groups.ts'
import { SettingList, SettingText } from '../components/setting-list.tsx'
import { useCanEdit, useDefinitionSchema } from '../edit/draft.ts'
import { valueAt } from '../edit/values.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { settingsTexts as texts } from '../components/setting-texts.ts'
import { pageTitles } from '../page-titles.ts'

type Setting = Definition['settings'][number]
type Rate = Definition['rates'][number]

const SettingsEditor = lazyPart(() => import('../editors/settings.tsx'), 'SettingsEditor')

export function Page() {
  return useCanEdit() ? <SettingsEditor /> : <SettingsView />
}

function SettingsView() {
  const { data, error, isError, refetch } = useQuery(definitionQuery)
  return (
    <>
      <PageHeader title={pageTitles.settings} text={texts.text} />
      {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
      <div className="stack-wide">
        <section>
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

function Settings({ settings }: { readonly settings: readonly Setting[] }) {
  const schema = valueAt(useDefinitionSchema(), ['$defs', 'config'])
  if (settings.length === 0) return <p className="soft">{build.noRelease}</p>
  if (schema === undefined) return <Skeleton height={160} />
  const byName = new Map(settings.map((one) => [one.name, one]))
  return (
    <SettingList
      groups={groupSettings(schema)}
      render={({ name, keys: [key = '', ...inner], label, description }) => {
        const { value, default: byDefault } = byName.get(key) ?? {}
        const own = valueAt(value, inner)
        return (
          <div key={name} className="setting">
            <div>
              <p className="strong">{label}</p>
              <p className="soft">
                <SettingText name={name} description={description} />
              </p>
            </div>
            <p>
              <code translate="no" dir="auto" className="wrap">
                {write(own ?? valueAt(byDefault, inner))}
              </code>{' '}
              {own === undefined ? (
                <span className="soft">{texts.default}</span>
              ) : (
                <>
                  <State tone="info">{texts.set}</State>{' '}
                  <span className="soft">{texts.wasDefault(write(valueAt(byDefault, inner)))}</span>
                </>
              )}
            </p>
          </div>
        )
      }}
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
        {
          name: 'name',
          label: texts.rate,
          render: ({ name }) => (
            <bdi translate="no" className="strong">
              {name}
            </bdi>
          ),
        },
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
