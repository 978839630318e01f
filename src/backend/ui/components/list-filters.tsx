import { Button, NativeSelect, Popover, TextInput, type ButtonProps } from '@mantine/core'
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
      {state.isFiltered ? <ClearFilters variant="subtle" color="gray" state={state} /> : null}
    </div>
  )
}

interface ClearFiltersProps extends Pick<ButtonProps, 'variant' | 'color'> {
  readonly state: ListState
}

/** Removes all filters, also in a list that has none of the rows. */
export function ClearFilters({ state, ...props }: ClearFiltersProps) {
  return (
    <Button
      {...props}
      onClick={({ currentTarget }) => {
        focusFilters(currentTarget)
        state.clear()
      }}
    >
      {tableTexts.clear}
    </Button>
  )
}

/** Moves the focus from a button that is about to go to what sets filters. */
function focusFilters(button: HTMLElement): void {
  const filters = button.closest('.list')?.querySelector('.filters')
  const target = ['[aria-haspopup="dialog"]', 'input, select'].map((one) => filters?.querySelector<HTMLElement>(one))
  target.find((one) => one instanceof HTMLElement)?.focus()
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
      <Popover.Dropdown aria-label={tableTexts.filter} className="filter-fields">
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
      onClick={({ currentTarget }) => {
        focusFilters(currentTarget)
        state.set({ [name]: '' })
      }}
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
  const apply = useDebouncedCallback((value: string) => state.set({ [name]: value }), {
    delay: typingMs,
    flushOnUnmount: !isSearch, // the button closes over its fields
  })
  return (
    <TextInput
      // Escape clears a search, but closes the fields of the button.
      type={isSearch ? 'search' : 'text'}
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
