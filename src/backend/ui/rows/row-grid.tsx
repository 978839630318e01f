import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react'
import { onListKey } from '../components/list-keys.ts'
import type { ListState } from '../components/use-list-query.ts'
import { isRight, ReferenceLink, Value } from './cell.tsx'
import {
  describeType,
  keyOf,
  nameRow,
  orderColumns,
  type Description,
  type Row,
  type RowColumn,
  type TablePlace,
} from './row-values.ts'
import { rowTexts as texts } from './row-texts.ts'

interface RowGridProps {
  readonly place: TablePlace
  readonly description: Description
  readonly rows: readonly Row[]
  readonly state: ListState
  readonly isStale: boolean
  onOpen(row: Row): void
}

/** Rows as a dense grid, which scrolls in both directions below its header. On a phone, each row is a block. */
export function RowGrid({ place, description, rows, state, isStale, onOpen }: RowGridProps) {
  const columns = orderColumns(description)
  return (
    <div className="rows-frame" onKeyDown={onListKey}>
      <table className="row-grid" role="table" aria-label={place.table} aria-busy={isStale}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Heading key={column.name} column={column} isKey={description.key.includes(column.name)} state={state} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={keyOf(description, row)} onClick={() => onOpen(row)}>
              {columns.map((column, index) => (
                <td
                  role={index === 0 ? 'rowheader' : 'cell'}
                  key={column.name}
                  className={isRight(column) ? 'right' : ''}
                  data-label={column.name}
                >
                  <Cell {...{ place, description, column, row }} isFirst={index === 0} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface CellProps extends Pick<RowGridProps, 'place' | 'description'> {
  readonly column: RowColumn
  readonly row: Row
  readonly isFirst: boolean
}

/** The first cell has the button that opens the row, for the keyboard and screen readers: a click anywhere does the same. */
function Cell({ isFirst, ...props }: CellProps) {
  const { description, column, row } = props
  const value = <Value column={column} value={row.values[column.name]} />
  return (
    <div className="rows-cell">
      {isFirst ? (
        <button type="button" className="rows-open" aria-label={texts.open(nameRow(description, row))}>
          {value}
        </button>
      ) : (
        <span className="rows-value">{value}</span>
      )}
      <span className="rows-links" onClick={(event) => event.stopPropagation()}>
        <ReferenceLink {...props} />
      </span>
    </div>
  )
}

interface HeadingProps {
  readonly column: RowColumn
  readonly isKey: boolean
  readonly state: ListState
}

function Heading({ column, isKey, state }: HeadingProps) {
  const { name, sortable } = column
  const order = state.query.sort === name ? 'ascending' : state.query.sort === `-${name}` ? 'descending' : undefined
  const Icon = order === undefined ? ArrowUpDown : order === 'ascending' ? ArrowUp : ArrowDown
  const label = (
    <span translate="no">
      {name}{' '}
      <span className="rows-type">
        {describeType(column)}
        {isKey ? ' · key' : ''}
      </span>
    </span>
  )
  return (
    <th role="columnheader" aria-sort={order} className={isRight(column) ? 'right' : ''}>
      {sortable ? (
        <button
          type="button"
          className="sort"
          onClick={() => state.set({ sort: order === 'ascending' ? `-${name}` : name })}
        >
          {label}
          <Icon size={12} aria-hidden className={order === undefined ? 'sort-none' : ''} />
        </button>
      ) : (
        label
      )}
    </th>
  )
}
