import { ActionIcon, Button, Checkbox, MultiSelect, NativeSelect, TextInput } from '@mantine/core'
import { Plus, RotateCcw, X } from 'lucide-react'
import { useId, useRef } from 'react'
import { ChoiceSelect } from '../edit/choices.tsx'
import { DefaultCell, TypeCell, ValuesCell, type CellProps } from './table-cells.tsx'
import { tableEditorTexts as texts } from './table-texts.ts'
import {
  makeRow,
  suggestions,
  toName,
  withReference,
  type ReferencedTable,
  type Row,
  type TableState,
} from './table-state.ts'

interface PartProps {
  readonly state: TableState
  readonly isNew: boolean
  onChange(state: TableState): void
  errorOf(pointer: string): string | undefined
}

/** Where problems of a column are. */
const rowParts = [
  '',
  'name',
  'type',
  'length',
  'values',
  'add_values',
  'remove_values',
  'precision',
  'scale',
  'default',
  'null',
  'unique',
  'references',
  'on_delete',
] as const

/** The columns of a table, one line for each. */
export function Columns({
  state,
  isNew,
  tables,
  onChange,
  errorOf,
}: PartProps & { readonly tables: readonly ReferencedTable[] }) {
  const { rows } = state
  const set = (row: Row) => onChange({ ...state, rows: rows.map((one) => (one.id === row.id ? row : one)) })
  const remove = (row: Row) => {
    if (row.was !== undefined && row.isFixed) return set({ ...row, isRemoved: !row.isRemoved })
    const without = (list: readonly number[]) => list.filter((id) => id !== row.id)
    onChange({
      ...state,
      rows: rows.filter((one) => one !== row),
      key: without(state.key),
      unique: state.unique.map(without),
      index: state.index.map(without),
    })
  }
  const add = (row: Partial<Row>) => {
    const [last] = rows.slice(-1)
    const isBlank = last !== undefined && last.name === '' && row.name !== undefined
    onChange({
      ...state,
      rows: [...(isBlank ? rows.slice(0, -1) : rows), makeRow({ isNull: !isNew && !row.default, ...row })],
    })
  }
  const grid = useRef<HTMLDivElement>(null)
  const enter = (index: number) => {
    const names = grid.current?.querySelectorAll<HTMLElement>('.column-row .mono-input input')
    if (index < rows.length - 1) names?.[index + 1]?.focus()
    else if (rows[index]!.name !== '') add({})
  }
  const offered = suggestions.filter(({ name }) => rows.every((row) => row.name !== name))
  // Pointers count the columns that remain.
  const kept = rows.filter(({ isRemoved }) => !isRemoved)
  return (
    <section>
      <h2>{texts.columns}</h2>
      <div ref={grid} className="column-grid" role="table" aria-label={texts.columns}>
        <div role="row" className="column-row column-head">
          {[texts.column, texts.type, texts.default, texts.null, texts.unique, texts.references, ''].map((label) => (
            <span role="columnheader" key={label}>
              {label === '' ? <span className="hidden">{texts.remove('')}</span> : label}
            </span>
          ))}
        </div>
        {rows.map((row, index) => (
          <ColumnRow
            key={row.id}
            row={row}
            number={index + 1}
            tables={tables}
            onChange={set}
            onEnter={() => enter(index)}
            onRemove={() => remove(row)}
            errorOf={(part) =>
              row.isRemoved ? undefined : errorOf(`/columns/${kept.indexOf(row)}${part === '' ? '' : `/${part}`}`)
            }
          />
        ))}
      </div>
      <div className="column-add">
        <Button variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={() => add({})}>
          {texts.add}
        </Button>
        {offered.length === 0 ? null : <span className="soft">{texts.suggest}</span>}
        {offered.map((one) => (
          <Button key={one.name} variant="subtle" className="mono" onClick={() => add(one)}>
            {one.name}
          </Button>
        ))}
      </div>
    </section>
  )
}

/** The tables that a column can refer to, also one that is not there. */
function listTables({ references }: Row, tables: readonly ReferencedTable[]) {
  const names = new Set([...tables.map((one) => one.name), ...(references === '' ? [] : [references])])
  return [...names].map((name) => ({ value: name, label: name }))
}

interface ColumnRowProps {
  readonly row: Row
  readonly number: number
  readonly tables: readonly ReferencedTable[]
  onChange(row: Row): void
  /** Called for Enter in the name. */
  onEnter(): void
  onRemove(): void
  errorOf(part: string): string | undefined
}

function ColumnRow({ row, number, tables, onChange, onEnter, onRemove, errorOf }: ColumnRowProps) {
  const name = row.name === '' ? texts.columnOf(number) : row.name
  const isId = row.type === 'id'
  const isLocked = row.isRemoved
  const noteId = useId()
  const problems = [...new Set(rowParts.flatMap((part) => errorOf(part) ?? []))]
  const markOf = (...parts: readonly string[]) =>
    parts.some((part) => errorOf(part) !== undefined)
      ? { error: true, 'aria-invalid': true, 'aria-describedby': noteId }
      : {}
  const cell = { row, name, markOf, onChange }
  return (
    <div role="row" className="column-row" data-removed={row.isRemoved || undefined}>
      <div role="cell">
        <TextInput
          aria-label={texts.columnOf(number)}
          className="mono-input"
          value={row.name}
          disabled={row.isRemoved}
          autoFocus={row.was === undefined && number > 2}
          {...markOf('name')}
          onChange={(event) => onChange({ ...row, name: toName(event.currentTarget.value) })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
            event.preventDefault()
            onEnter()
          }}
        />
        {row.isRemoved ? <p className="column-note bad">{texts.removed}</p> : null}
        {!row.isRemoved && row.was !== undefined && row.was !== row.name ? (
          <p className="column-note">{texts.renamed(row.was)}</p>
        ) : null}
      </div>
      <TypeCell {...cell} />
      <DefaultCell {...cell} />
      <div role="cell" data-label={texts.null}>
        {isId ? null : (
          <Checkbox
            aria-label={texts.nullOf(name)}
            checked={row.isNull}
            disabled={isLocked}
            {...markOf('null')}
            onChange={(event) => onChange({ ...row, isNull: event.currentTarget.checked })}
          />
        )}
      </div>
      <div role="cell" data-label={texts.unique}>
        {isId ? null : (
          <Checkbox
            aria-label={texts.uniqueOf(name)}
            checked={row.isUnique}
            disabled={isLocked}
            {...markOf('unique')}
            onChange={(event) => onChange({ ...row, isUnique: event.currentTarget.checked })}
          />
        )}
      </div>
      <ReferenceCell {...cell} tables={tables} />
      <div role="cell" className="column-remove">
        <ActionIcon size={28} aria-label={row.isRemoved ? texts.restore(name) : texts.remove(name)} onClick={onRemove}>
          {row.isRemoved ? <RotateCcw size={14} aria-hidden /> : <X size={14} aria-hidden />}
        </ActionIcon>
      </div>
      <ValuesCell {...cell} />
      <div role="cell" className="column-problems" id={noteId}>
        {problems.map((problem) => (
          <p key={problem} className="column-note bad">
            {problem}
          </p>
        ))}
      </div>
    </div>
  )
}

/** The table that the column refers to, and what becomes of its rows. */
function ReferenceCell({
  row,
  name,
  tables,
  markOf,
  onChange,
}: CellProps & { readonly tables: readonly ReferencedTable[] }) {
  return (
    <div role="cell" className="column-reference" data-head={texts.references}>
      {row.type === 'id' ? null : (
        <ChoiceSelect
          aria-label={texts.referencesOf(name)}
          choices={[{ value: '', label: texts.noReference }, ...listTables(row, tables)]}
          value={row.references}
          disabled={row.isRemoved}
          {...markOf('references')}
          onChange={(next) => onChange(withReference(row, next, tables))}
        />
      )}
      {row.references === '' ? null : (
        <NativeSelect
          aria-label={texts.onDeleteOf(name)}
          data={Object.entries(texts.onDeletes)
            .filter(([value]) => value !== (row.onDelete === 'restrict' ? '' : 'restrict')) // which means the same
            .map(([value, label]) => ({ value, label }))}
          value={row.onDelete}
          disabled={row.isRemoved}
          {...markOf('on_delete')}
          onChange={(event) => onChange({ ...row, onDelete: event.currentTarget.value })}
        />
      )}
    </div>
  )
}

/** The key, the indexes and the unique combinations of a table. */
export function Keys({ state, isNew, onChange, errorOf }: PartProps) {
  const named = state.rows.filter(({ name, isRemoved }) => name !== '' && !isRemoved)
  const hasId = named.some(({ type }) => type === 'id')
  const data = named.map(({ id, name }) => ({ value: String(id), label: name }))
  const choose = (label: string, value: readonly number[], set: (ids: readonly number[]) => void, isFixed = false) => (
    <MultiSelect
      aria-label={label}
      className="grow"
      data={data}
      value={value.map(String).filter((id) => data.some((one) => one.value === id))}
      placeholder={value.length === 0 ? texts.chooseColumns : ''}
      disabled={isFixed}
      hidePickedOptions
      comboboxProps={{ keepMounted: false }}
      onChange={(ids) => set(ids.map(Number))}
    />
  )
  const lists = (part: 'unique' | 'index', labelOf: (index: number) => string, isFixed: boolean) =>
    state[part].map((list, index) => {
      const label = labelOf(index + 1)
      const setAll = (all: TableState['index']) => onChange({ ...state, [part]: all })
      return (
        <div className="with-button" key={index}>
          {choose(label, list, (ids) => setAll(state[part].map((one, at) => (at === index ? ids : one))), isFixed)}
          {isFixed ? null : (
            <ActionIcon
              size={28}
              aria-label={texts.remove(label)}
              onClick={() => setAll(state[part].filter((_, at) => at !== index))}
            >
              <X size={14} aria-hidden />
            </ActionIcon>
          )}
        </div>
      )
    })
  const error = (pointer: string) => {
    const problem = errorOf(pointer)
    return problem === undefined ? null : <p className="column-note bad">{problem}</p>
  }
  return (
    <section className="stack-small table-keys">
      {hasId ? null : (
        <>
          <h2>{texts.key}</h2>
          <p className="soft">{texts.keyText}</p>
          {choose(texts.key, state.key, (key) => onChange({ ...state, key }), !isNew)}
          {error('/key')}
        </>
      )}
      <h2 className="next">{texts.indexes}</h2>
      <p className="soft">{texts.indexText}</p>
      {lists('index', texts.index, false)}
      {error('/index')}
      {state.unique.length > 0 ? <h2>{texts.uniqueSets}</h2> : null}
      {state.unique.length > 0 && !isNew ? <p className="soft">{texts.fixedUnique}</p> : null}
      {lists('unique', texts.uniqueSet, !isNew)}
      {error('/unique')}
      <div className="column-add">
        <Button
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange({ ...state, index: [...state.index, []] })}
        >
          {texts.addIndex}
        </Button>
        {isNew ? (
          <Button
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => onChange({ ...state, unique: [...state.unique, []] })}
          >
            {texts.addUnique}
          </Button>
        ) : null}
      </div>
      <h2 className="next">{texts.search}</h2>
      <p className="soft">{texts.searchText}</p>
      {choose(texts.search, state.search, (search) => onChange({ ...state, search }))}
      {error('/search')}
    </section>
  )
}
