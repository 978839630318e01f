import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { call, type Entry } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { PlainTable } from './plain-table.tsx'
import { ProblemAlert } from './problem.tsx'
import { settingsTexts as texts } from './setting-texts.ts'

type Plugin = Entry<'GET /plugin'>

/** The plugins of the active release. */
export function Plugins() {
  const { data, error, refetch } = useQuery({
    queryKey: ['plugin'],
    queryFn: ({ signal }) => call('GET /plugin', {}, signal),
  })
  const failure = loadingErrorOf({ data, error })
  if (failure !== undefined) return <ProblemAlert error={failure} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={96} />
  return (
    <PlainTable<Plugin>
      label={texts.plugins}
      rows={data.entry}
      rowKey={({ name }) => name}
      columns={[
        {
          name: 'name',
          label: texts.plugin,
          render: ({ name, from }) => (
            <>
              <bdi translate="no" className="strong">
                {name}
              </bdi>{' '}
              {from === null || from === name ? null : (
                <bdi translate="no" className="soft">
                  {from}
                </bdi>
              )}
            </>
          ),
        },
        { name: 'version', label: texts.version, isMinor: true, render: ({ version }) => version },
        { name: 'place', label: texts.place, render: ({ place }) => texts.places[place] },
        {
          name: 'provides',
          label: texts.provides,
          render: ({ connections, actions, routes }) =>
            [
              ...(connections.length === 0 ? [] : [texts.connections(connections.join(', '))]),
              ...(actions.length === 0 ? [] : [texts.actions(actions.join(', '))]),
              ...(routes ? [texts.routes] : []),
            ].join(' · '),
        },
      ]}
    />
  )
}
