import { Checkbox, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { isBackendScope, useScopes } from './access.tsx'
import { pickerTexts as texts } from './access-texts.ts'

interface ScopePickerProps {
  readonly label: string
  /** The name of the field in its form. */
  readonly name: string
  readonly value: readonly string[]
  onChange(value: readonly string[]): void
  /** The scopes before the edit: rows that differ say so. */
  readonly before?: readonly string[]
  /** The scopes to choose from; by default all. */
  readonly from?: readonly string[]
  /** What to say if there are none to choose from. */
  readonly emptyText?: string
  readonly description?: string
  readonly error?: string | undefined
}

interface Choice {
  readonly name: string
  readonly description: string | null
}

const filterFrom = 10
/** How many are shown of a group, besides those that are or were selected. */
const maxShown = 100

/** Checkboxes for all scopes with their descriptions. The server decides what may be granted. */
export function ScopePicker(props: ScopePickerProps) {
  const { label, name, value, before = [], from, emptyText = texts.none, description, error } = props
  const [filter, setFilter] = useState('')
  const known = useScopes().data?.entry ?? []
  const held = [...value, ...before].filter((scope) => !known.some((one) => one.name === scope))
  const choices: readonly Choice[] = [...known, ...[...new Set(held)].map((one) => ({ name: one, description: null }))]
  const offered = choices.filter((one) => from === undefined || from.includes(one.name) || value.includes(one.name))
  const shown = offered.filter((one) => `${one.name} ${one.description}`.toLowerCase().includes(filter.toLowerCase()))
  const project = shown.filter((one) => !isBackendScope(one.name))
  const administration = shown.filter((one) => isBackendScope(one.name))
  return (
    <fieldset
      name={name}
      tabIndex={-1}
      className="picker"
      aria-describedby={error === undefined ? undefined : `${name}-error`}
    >
      <legend>
        {label} <span className="soft">{texts.selected(value.length)}</span>
      </legend>
      {description === undefined ? null : <p className="soft picker-text">{description}</p>}
      {offered.length < filterFrom ? null : (
        <TextInput
          type="search"
          aria-label={texts.filter}
          placeholder={texts.filter}
          leftSection={<Search size={14} aria-hidden />}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      <div className="picker-list" data-error={error !== undefined || undefined}>
        {shown.length === 0 ? <p className="soft">{filter === '' ? emptyText : texts.noMatch}</p> : null}
        <Group {...props} title={texts.project} choices={project} />
        <Group {...props} title={texts.administration} choices={administration} hasAll={filter === ''} />
      </div>
      {error === undefined ? null : (
        <p id={`${name}-error`} className="picker-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}

interface GroupProps extends ScopePickerProps {
  readonly title: string
  readonly choices: readonly Choice[]
  /** Whether one checkbox selects all that the user may grant. */
  readonly hasAll?: boolean
}

function Group({ title, choices, value, before, onChange, hasAll = false }: GroupProps) {
  const own = useStore(sessionStore)?.scopes ?? []
  if (choices.length === 0) return null
  const mayGrant = (scope: string) => !isBackendScope(scope) || own.includes(scope)
  const grantable = choices.map(({ name }) => name).filter(mayGrant)
  const selected = choices.filter(({ name }) => value.includes(name)).length
  const isKept = ({ name }: Choice) => value.includes(name) || before?.includes(name)
  const visible = choices.filter((one, index) => index < maxShown || isKept(one))
  const toggle = (scopes: readonly string[], isOn: boolean) =>
    onChange(isOn ? [...new Set([...value, ...scopes])] : value.filter((one) => !scopes.includes(one)))
  return (
    <div role="group" aria-label={title} className="picker-group">
      <p className="picker-title">
        <span aria-hidden>{title}</span>
        {hasAll && choices.length > 1 ? (
          <Checkbox
            label={texts.all}
            checked={selected === choices.length}
            indeterminate={selected > 0 && selected < choices.length}
            onChange={(event) => toggle(grantable, event.currentTarget.checked)}
          />
        ) : null}
      </p>
      {visible.map(({ name, description }) => {
        const isOn = value.includes(name)
        const change = before === undefined || before.includes(name) === isOn ? undefined : isOn ? 'added' : 'removed'
        return (
          <div key={name} className="picker-row">
            <Checkbox
              label={
                <code translate="no" dir="auto">
                  {name}
                </code>
              }
              description={mayGrant(name) || isOn ? description : texts.lacking}
              disabled={!mayGrant(name) && !isOn}
              checked={isOn}
              onChange={(event) => toggle([name], event.currentTarget.checked)}
            />
            {change === undefined ? null : <span className={`picker-change picker-${change}`}>{texts[change]}</span>}
          </div>
        )
      })}
      {visible.length < choices.length ? <p className="soft">{texts.more(choices.length - visible.length)}</p> : null}
    </div>
  )
}
