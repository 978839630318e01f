import type { Column } from './data-table.tsx'

interface PlainTableProps<Row> {
  /** What the table contains, for screen readers. */
  readonly label: string
  /** The first column identifies the row. */
  readonly columns: readonly Omit<Column<Row>, 'isSortable'>[]
  readonly rows: readonly Row[]
  rowKey(row: Row): string
}

/** A short table within a page, without filters and paging. */
export function PlainTable<Row>({ label, columns, rows, rowKey }: PlainTableProps<Row>) {
  const classOf = ({ isRight, isMinor }: Pick<Column<never>, 'isRight' | 'isMinor'>) =>
    [isRight === true ? 'right' : '', isMinor === true ? 'minor' : ''].join(' ').trim()
  return (
    <div className="table-frame">
      <table className="table" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th role="columnheader" key={column.name} className={classOf(column)} style={{ width: column.width }}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={rowKey(row)}>
              {columns.map((column) => (
                <td role="cell" key={column.name} className={classOf(column)} data-label={column.label}>
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
