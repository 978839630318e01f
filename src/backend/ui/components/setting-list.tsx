import { TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useId, useState, type ReactNode } from 'react'
import { findSettings, type SettingField, type SettingGroup } from './setting-groups.ts'
import { settingsTexts as texts } from './setting-texts.ts'

interface SettingListProps {
  readonly groups: readonly SettingGroup[]
  render(field: SettingField): ReactNode
}

/** Settings in groups, with a search. */
export function SettingList({ groups, render }: SettingListProps) {
  const id = useId()
  const [search, setSearch] = useState('')
  const found = findSettings(groups, search)
  const count = found.reduce((sum, { fields }) => sum + fields.length, 0)
  return (
    <div className="settings">
      <div role="search" className="settings-search">
        <TextInput
          type="search"
          aria-label={texts.search}
          placeholder={texts.search}
          leftSection={<Search size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      <p role="status" className={count === 0 ? 'soft' : 'hidden'}>
        {search === '' ? '' : texts.found(count)}
      </p>
      {found.map(({ name, fields }, index) => (
        <section key={name} aria-labelledby={`${id}-${index}`} className="settings-group">
          <h2 id={`${id}-${index}`}>{name}</h2>
          <div className="settings-fields">{fields.map(render)}</div>
        </section>
      ))}
    </div>
  )
}

/** What a setting is for, and its key. */
export function SettingText({ name, description }: Pick<SettingField, 'name' | 'description'>) {
  return (
    <>
      <code translate="no" className="setting-key">
        {name}
      </code>
      {description === '' ? null : ` · ${description}`}
    </>
  )
}
