import { Button, NativeSelect, Popover, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { ListFilter, Search, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ListState } from './use-list-query.ts'
import { tableTexts } from './data-table-texts.ts'

/** A filter in the URL: a choice, or a text to search for. */
export interface Filter {
  readonly name: string
  readonly label: string
  /** Values with their labels; without them, the filter is a text field. */
  readonly options?: Readonly<Record<string, string>>
}

interface FiltersProps {
  readonly filters: readonly Filter[]
  readonly state: ListState
}

/** The search of a list, a button with its other filters, and those that are set. A single filter needs no button. */
export function Filters({ filters, state }: FiltersProps) {
  const search = filters.find(({ name }) => name === 'search')
  const others = filters.filter((one) => one !== search)
  const isSingle = search === undefined && others.length === 1
  return (
    <div className="filters" role="search">
      {search === undefined ? null : <TextFilter filter={search} state={state} isSearch />}
      {isSingle ? <Field filter={others[0]!} state={state} isAlone /> : null}
      {isSingle || others.length === 0 ? null : <FilterButton filters={others} state={state} />}
      {others
        .filter(({ name }) => !isSingle && isSet(state, name))
        .map((filter) => (
          <Chip key={filter.name} filter={filter} state={state} />
        ))}
      {state.isFiltered ? (
        <Button variant="subtle" color="gray" onClick={state.clear}>
          {tableTexts.clear}
        </Button>
      ) : null}
    </div>
  )
}

function isSet({ query }: ListState, name: string): boolean {
  return query[name] !== undefined && query[name] !== ''
}

function FilterButton({ filters, state }: FiltersProps) {
  return (
    <Popover position="bottom-start" width={280} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<ListFilter size={14} aria-hidden />}>
          {tableTexts.filter}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={tableTexts.filter}>
        <div className="stack-small">
          {filters.map((filter) => (
            <Field key={filter.name} filter={filter} state={state} />
          ))}
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

/** A filter that is set. Pressing it removes the filter. */
function Chip({ filter: { name, label, options }, state }: FieldProps) {
  const value = state.query[name] ?? ''
  const text = `${label}: ${options?.[value] ?? value}`
  return (
    <Button
      variant="light"
      className="filter-chip"
      rightSection={<X size={14} aria-hidden />}
      aria-label={tableTexts.removeFilter(text)}
      onClick={() => state.set({ [name]: '' })}
    >
      {text}
    </Button>
  )
}

interface FieldProps {
  readonly filter: Filter
  readonly state: ListState
  /** Whether the field has no room for a label above it. */
  readonly isAlone?: boolean
}

function Field({ filter, state, isAlone = false }: FieldProps) {
  const { name, label, options } = filter
  if (options === undefined) return <TextFilter filter={filter} state={state} isSearch={isAlone} />
  const all = isAlone ? `${label}: ${tableTexts.all}` : tableTexts.all
  return (
    <NativeSelect
      {...(isAlone ? { 'aria-label': label } : { label })}
      value={state.query[name] ?? ''}
      data={[{ value: '', label: all }, ...Object.entries(options).map(([value, text]) => ({ value, label: text }))]}
      onChange={(event) => state.set({ [name]: event.currentTarget.value })}
    />
  )
}

const typingMs = 250

function TextFilter({ filter: { name, label }, state, isSearch }: FieldProps & { readonly isSearch: boolean }) {
  const applied = state.query[name] ?? ''
  const [text, setText] = useState(applied)
  useEffect(() => setText(applied), [applied])
  const apply = useDebouncedCallback((value: string) => state.set({ [name]: value }), typingMs)
  return (
    <TextInput
      type="search"
      {...(isSearch
        ? { 'aria-label': label, placeholder: label, leftSection: <Search size={14} aria-hidden /> }
        : { label })}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        apply(event.currentTarget.value)
      }}
    />
  )
}
