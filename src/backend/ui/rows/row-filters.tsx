import { Button, NativeSelect, Popover, TextInput } from '@mantine/core'
import { ListFilter, X } from 'lucide-react'
import { useState } from 'react'
import { tableTexts } from '../components/data-table-texts.ts'
import type { ListState } from '../components/use-list-query.ts'
import { describeName } from '../components/whole-name.tsx'
import { orderColumns, type Description, type RowColumn } from './row-values.ts'
import { RowSearch } from './row-search.tsx'
import { filterTexts as texts } from './row-texts.ts'

interface RowFiltersProps {
  readonly description: Description
  readonly state: ListState
}

/** The filters that are set, and the button that adds one. */
export function RowFilters({ description, state }: RowFiltersProps) {
  const filters = [...new URLSearchParams(state.query['filter'])]
  const remove = (index: number) =>
    state.set({ filter: new URLSearchParams(filters.filter((_, at) => at !== index)).toString() })
  return (
    <>
      {description.search.length > 0 ? (
        <RowSearch
          columns={description.search}
          onSearch={(words) =>
            state.set({
              filter: new URLSearchParams([...filters.filter(([name]) => name !== 'q'), ['q', words]]).toString(),
            })
          }
        />
      ) : null}
      <AddFilter
        columns={orderColumns(description).filter(({ operators }) => operators.length > 0)}
        onAdd={(name, value) => state.set({ filter: new URLSearchParams([...filters, [name, value]]).toString() })}
      />
      {filters.map(([name, value], index) => {
        const text = describeFilter(name, value)
        return (
          <Button
            key={`${index} ${text}`}
            variant="light"
            className="filter-chip"
            rightSection={<X size={14} aria-hidden />}
            aria-label={tableTexts.removeFilter(text)}
            onClick={() => remove(index)}
          >
            {text}
          </Button>
        )
      })}
    </>
  )
}

function describeFilter(name: string, value: string): string {
  if (name === 'q') return texts.words(value)
  const [column = '', operator = 'eq'] = name.split('.')
  if (operator === 'null') return `${column} ${value === 'true' ? texts.isNull : texts.isNotNull}`
  return `${column} ${texts.operators[operator] ?? operator} ${value}`
}

interface AddFilterProps {
  readonly columns: readonly RowColumn[]
  onAdd(name: string, value: string): void
}

function AddFilter({ columns, onAdd }: AddFilterProps) {
  const [isOpen, setOpen] = useState(false)
  if (columns.length === 0) return null
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" width={280} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<ListFilter size={14} aria-hidden />} onClick={() => setOpen(!isOpen)}>
          {texts.add}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={texts.add} className="filter-fields">
        <FilterFields
          columns={columns}
          onAdd={(name, value) => {
            setOpen(false)
            onAdd(name, value)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function FilterFields({ columns, onAdd }: AddFilterProps) {
  const [name, setName] = useState(columns[0]!.name)
  const [chosen, setOperator] = useState<string>()
  const [value, setValue] = useState('')
  const column = columns.find((one) => one.name === name) ?? columns[0]!
  const operator = chosen !== undefined && column.operators.includes(chosen) ? chosen : column.operators[0]!
  const options = optionsOf(column, operator)
  const given = options === undefined ? value : options.some((one) => one.value === value) ? value : options[0]!.value
  return (
    <form
      className="stack-small"
      onSubmit={(event) => {
        event.preventDefault()
        onAdd(operator === 'eq' ? column.name : `${column.name}.${operator}`, given)
      }}
    >
      <NativeSelect
        label={texts.column}
        description={describeName(column.name)}
        value={column.name}
        data={columns.map((one) => one.name)}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label={texts.operator}
        value={operator}
        data={column.operators.map((one) => ({ value: one, label: texts.operators[one] ?? one }))}
        onChange={(event) => setOperator(event.currentTarget.value)}
      />
      {options === undefined ? (
        <TextInput
          label={texts.value}
          value={value}
          type={column.type === 'date' ? 'date' : 'text'}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      ) : (
        <NativeSelect
          label={texts.value}
          value={given}
          data={options}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      )}
      <Button type="submit">{texts.apply}</Button>
    </form>
  )
}

/** The values to choose from; undefined for a text. */
function optionsOf({ type, values }: RowColumn, operator: string) {
  if (operator === 'null')
    return [
      { value: 'true', label: texts.yes },
      { value: 'false', label: texts.no },
    ]
  const all = type === 'boolean' ? ['true', 'false'] : operator === 'eq' ? values : null
  return all?.map((value) => ({ value, label: value }))
}
