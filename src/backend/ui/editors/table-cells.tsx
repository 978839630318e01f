import { NativeSelect, TagsInput, TextInput } from '@mantine/core'
import { columnTypes, withType, type ColumnType, type Row } from './table-state.ts'
import { tableEditorTexts as texts } from './table-texts.ts'

export interface CellProps {
  readonly row: Row
  /** The name of the column, for labels. */
  readonly name: string
  /** Marks a field that one of these parts of the column is wrong in. */
  markOf(...parts: readonly string[]): object
  onChange(row: Row): void
}

/** The type, and what belongs to it: the length of texts, the digits of decimals. */
export function TypeCell({ row, name, markOf, onChange }: CellProps) {
  return (
    <div role="cell" className="column-type">
      {row.type === 'id' ? (
        <span className="soft">{texts.idText}</span>
      ) : (
        <NativeSelect
          aria-label={texts.typeOf(name)}
          data={columnTypes.includes(row.type) ? [...columnTypes] : [row.type]}
          value={row.type}
          disabled={row.isRemoved}
          {...markOf('type')}
          onChange={(event) => onChange(withType(row, event.currentTarget.value as ColumnType))}
        />
      )}
      {row.type === 'text' ? (
        <TextInput
          aria-label={texts.lengthOf(name)}
          placeholder={texts.length}
          inputMode="numeric"
          value={row.length}
          disabled={row.isRemoved}
          {...markOf('type', 'length')}
          onChange={(event) => onChange({ ...row, length: event.currentTarget.value.replaceAll(/\D/g, '') })}
        />
      ) : null}
      {row.type === 'numeric' ? (
        <TextInput
          aria-label={texts.digitsOf(name)}
          placeholder="10,2"
          value={row.length}
          disabled={row.isRemoved}
          {...markOf('type', 'precision', 'scale')}
          onChange={(event) => onChange({ ...row, length: event.currentTarget.value.replaceAll(/[^\d,]/g, '') })}
        />
      ) : null}
    </div>
  )
}

/** The values of an enum, below the other cells: there may be many. */
export function ValuesCell({ row, name, markOf, onChange }: CellProps) {
  if (row.type !== 'enum') return null
  return (
    <div role="cell" className="column-values">
      <TagsInput
        aria-label={texts.valuesOf(name)}
        placeholder={row.values.length === 0 ? texts.valuesHint : ''}
        value={[...row.values]}
        disabled={row.isRemoved}
        acceptValueOnBlur
        {...markOf('values', 'add_values', 'remove_values')}
        onChange={(values) => onChange({ ...row, values })}
      />
    </div>
  )
}

export function DefaultCell({ row, name, markOf, onChange }: CellProps) {
  return (
    <div role="cell" data-head={texts.default}>
      {row.type === 'id' ? null : row.type === 'boolean' || row.type === 'enum' ? (
        <NativeSelect
          aria-label={texts.defaultOf(name)}
          data={[{ value: '', label: texts.noDefault }, ...(row.type === 'enum' ? row.values : ['true', 'false'])]}
          value={row.default}
          disabled={row.isRemoved}
          {...markOf('default')}
          onChange={(event) => onChange({ ...row, default: event.currentTarget.value })}
        />
      ) : (
        <TextInput
          aria-label={texts.defaultOf(name)}
          dir="auto"
          placeholder={row.type === 'timestamp' ? 'now' : texts.noDefault}
          value={row.default}
          disabled={row.isRemoved}
          {...markOf('default')}
          onChange={(event) => onChange({ ...row, default: event.currentTarget.value })}
        />
      )}
    </div>
  )
}
