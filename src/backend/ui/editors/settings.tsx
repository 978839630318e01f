import { ActionIcon, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Pencil, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { Users } from '../components/definition-parts.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { Plugins } from '../components/plugins.tsx'
import { groupSettings } from '../components/setting-groups.ts'
import { SettingList, SettingText } from '../components/setting-list.tsx'
import { useDefinitionSchema } from '../edit/draft.ts'
import { useDraftEdit, type DraftEdit } from '../edit/draft-edit.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { DeleteEntry } from '../edit/entry-dialogs.tsx'
import { LastSave } from '../edit/last-save.tsx'
import { SchemaField } from '../edit/schema-form.tsx'
import { useFlaws } from '../edit/use-flaws.ts'
import { isMap, keysOf, pointerOf, valueAt } from '../edit/values.ts'
import { RateDialog } from './rate.tsx'
import { tableTexts } from '../components/data-table-texts.ts'
import { buildTexts } from '../components/definition-texts.ts'
import { settingsTexts } from '../components/setting-texts.ts'
import { entryTexts as entry } from '../edit/entry-texts.ts'
import { fieldTexts } from '../edit/field-texts.ts'
import { ratesTexts as texts } from './rate-texts.ts'
import { pageTitles } from '../page-titles.ts'

const pageTexts = {
  text: 'From config, rate and plugins in waypost.yml.',
  config: 'Settings',
  rates: 'Rates',
  plugins: 'Plugins',
  unused: 'Without effect',
  unusedText: 'Waypost has no settings with these names, or no longer has them.',
} as const

type Rate = Definition['rates'][number]

/** The editor of `config` and `rate`. */
export function SettingsEditor() {
  const edit = useDraftEdit('/config')
  const schema = valueAt(useDefinitionSchema(), ['$defs', 'config'])
  return (
    <>
      <PageHeader title={pageTitles.settings} text={pageTexts.text} />
      <EditTabs
        edit={edit}
        at="/config"
        label={pageTexts.config}
        more={[
          { name: 'rates', label: pageTexts.rates, content: <RatesEditor /> },
          { name: 'plugins', label: pageTexts.plugins, content: <Plugins /> },
        ]}
      >
        {schema === undefined ? null : <SettingsForm edit={edit} schema={schema} />}
      </EditTabs>
    </>
  )
}

interface SettingsFormProps {
  readonly edit: DraftEdit
  readonly schema: unknown
}

function SettingsForm({ edit, schema }: SettingsFormProps) {
  const groups = groupSettings(schema)
  const errorOf = useFlaws(edit, '/config', schema)
  const checked = { ...edit, errorOf }
  const value = edit.get('/config')
  const known = new Set(groups.flatMap(({ fields }) => fields.map(({ keys }) => keys[0])))
  const unused = Object.keys(isMap(value) ? value : {}).filter((key) => !known.has(key))
  return (
    <>
      <SettingList
        groups={groups}
        render={({ name, keys, label, description, schema: own }) => (
          <SchemaField
            key={name}
            edit={{ ...checked, set: (at, next) => setOrRemove(edit, at, next) }}
            at={pointerOf('config', ...keys)}
            schema={own}
            label={label}
            description={<SettingText name={name} description={description} />}
          />
        )}
      />
      {unused.length === 0 ? null : (
        <section className="settings-group">
          <h2>{pageTexts.unused}</h2>
          <div className="settings-fields">
            <p className="soft">{pageTexts.unusedText}</p>
            {unused.map((key) => (
              <p key={key} className="setting-unused">
                <code translate="no" dir="auto">
                  {key}
                </code>
                <ActionIcon
                  size={24}
                  aria-label={fieldTexts.remove(key)}
                  onClick={() => edit.set(pointerOf('config', key), undefined)}
                >
                  <X size={14} aria-hidden />
                </ActionIcon>
              </p>
            ))}
          </div>
        </section>
      )}
    </>
  )
}

/** Sets a value. With the last value of a setting such as `keep`, the setting is removed. */
function setOrRemove(edit: DraftEdit, at: string, next: unknown): void {
  const [, name = '', inner] = keysOf(at)
  const outer = pointerOf('config', name)
  const isLast = inner !== undefined && next === undefined && Object.keys(edit.get(outer) ?? {}).length === 1
  edit.set(isLast ? outer : at, next)
}

function RatesEditor() {
  const { data } = useQuery(definitionQuery)
  /** The rate to edit; null for a new one. */
  const [editingRate, setEditing] = useState<Rate | null>()
  const [deleting, setDeleting] = useState<string>()
  const rates = data?.rates ?? []
  return (
    <div className="stack">
      <Button className="align-start" onClick={() => setEditing(null)}>
        {texts.new}
      </Button>
      {rates.length === 0 ? <p className="soft">{settingsTexts.noRates}</p> : null}
      {rates.length === 0 ? null : (
        <PlainTable<Rate>
          label={settingsTexts.rates}
          rows={rates}
          rowKey={({ name }) => name}
          columns={[
            {
              name: 'name',
              label: settingsTexts.rate,
              render: ({ name }) => (
                <bdi translate="no" className="strong">
                  {name}
                </bdi>
              ),
            },
            {
              name: 'limit',
              label: settingsTexts.limit,
              render: ({ limit, window_ms: ms, by }) => settingsTexts.per(limit, ms, by),
            },
            {
              name: 'counted',
              label: settingsTexts.counted,
              render: ({ connection }) =>
                connection === null ? settingsTexts.eachServer : settingsTexts.allServers(connection),
            },
            {
              name: 'users',
              label: buildTexts.usedBy,
              render: ({ used_by: users }) => <Users uses={users} limit={5} />,
            },
            {
              name: 'actions',
              label: tableTexts.actions,
              isRight: true,
              render: (rate) => (
                <span className="nowrap">
                  <ActionIcon aria-label={texts.edit(rate.name)} onClick={() => setEditing(rate)}>
                    <Pencil size={14} aria-hidden />
                  </ActionIcon>
                  <ActionIcon aria-label={entry.delete(rate.name)} onClick={() => setDeleting(rate.name)}>
                    <Trash2 size={14} aria-hidden />
                  </ActionIcon>
                </span>
              ),
            },
          ]}
        />
      )}
      <LastSave />
      {editingRate === undefined ? null : <RateDialog name={editingRate?.name} onClose={() => setEditing(undefined)} />}
      {deleting === undefined ? null : (
        <DeleteEntry at={pointerOf('rate', deleting)} name={deleting} onClose={() => setDeleting(undefined)} />
      )}
    </div>
  )
}
