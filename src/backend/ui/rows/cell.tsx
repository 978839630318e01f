import { Link } from '@tanstack/react-router'
import { ArrowUpRight } from 'lucide-react'
import {
  filterBy,
  isNumber,
  toText,
  type Description,
  type Row,
  type RowColumn,
  type TablePlace,
} from './row-values.ts'
import { rowTexts as texts } from './row-texts.ts'

/** Longer texts are shown in the panel of the row only. */
const maxShown = 200

/** A value in the grid. Null and an empty text look different from all texts. */
export function Value({ column, value }: { readonly column: RowColumn; readonly value: unknown }) {
  const text = toText(value)
  if (text === null) return <span className="no-value">{texts.null}</span>
  if (text === '') return <span className="no-value">{texts.emptyText}</span>
  const shown = column.type === 'timestamp' ? text.replace('T', ' ').replace(/(\.000)?Z$/, '') : text
  return (
    <bdi translate="no" title={shown.length > maxShown ? undefined : text}>
      {shown.slice(0, maxShown)}
    </bdi>
  )
}

interface ReferenceProps {
  readonly place: TablePlace
  readonly description: Description
  readonly column: RowColumn
  readonly row: Row
}

/** A link to the row that a column refers to. */
export function ReferenceLink({ place, description, column, row }: ReferenceProps) {
  const found = description.references.find(({ columns }) => columns.includes(column.name))
  if (found === undefined) return null
  const values = found.columns.map((name) => row.values[name])
  if (values.some((value) => value === null || value === undefined)) return null
  return (
    <Link
      to="/tables/$name/rows"
      params={{ name: `${place.connection}.${found.table}` }}
      search={{ filter: filterBy(found.to, values) }}
      className="reference"
      aria-label={texts.reference(found.table)}
      title={texts.reference(found.table)}
    >
      <ArrowUpRight size={14} aria-hidden />
    </Link>
  )
}

export function isRight({ type, as }: RowColumn): boolean {
  return isNumber(type) || type === 'bigint' || type === 'numeric' || (as ?? '').startsWith('numeric')
}
