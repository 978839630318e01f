import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, ArrowUpDown, Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { onListKey } from './list-keys.ts'
import { EmptyState } from './empty-state.tsx'
import { ClearFilters, Filters, type Filter } from './list-filters.tsx'
import { ProblemAlert } from './problem.tsx'
import { keepWithin } from '../api/keep-within.ts'
import { useListQuery, type ListQuery, type ListState } from './use-list-query.ts'
import { tableTexts } from './data-table-texts.ts'

/** A page of a list, as the admin API returns it. */
export interface ListPage<Row> {
  readonly entry: readonly Row[]
  /** The cursor of the next page. */
  readonly next?: string | null | undefined
}

export interface Column<Row> {
  readonly name: string
  readonly label: string
  render(row: Row): ReactNode
  /** Whether the list can be sorted by this column; its `name` is what the API calls it. */
  readonly isSortable?: boolean
  /** For numbers. */
  readonly isRight?: boolean
  /** Not shown on narrow screens. */
  readonly isMinor?: boolean
  readonly width?: number | string
}

export interface RowAction {
  readonly label: string
  readonly isDanger?: boolean
  /** Finds out, while the menu is open, why the action is not possible; null if it is. */
  readonly check?: {
    readonly queryKey: readonly string[]
    readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<string | null>
  }
  run(): void
}

export interface DataTableProps<Row> {
  /** What the list contains, for screen readers: "Users". */
  readonly label: string
  /** The first part of the key of the query, to invalidate it after a change. */
  readonly queryKey: readonly string[]
  load(query: ListQuery, signal: AbortSignal): Promise<ListPage<Row>>
  /** The first column identifies the row. */
  readonly columns: readonly Column<Row>[]
  rowKey(row: Row): string
  /** The name of the row in the labels of its link and buttons, unlike that of other rows; its key by default. */
  rowName?(row: Row): string
  /** The page of the row: the first column is a link to it. */
  rowLink?(row: Row):
    | {
        readonly to: string
        readonly params: Record<string, string>
        readonly search?: Readonly<Record<string, string>>
      }
    | undefined
  rowActions?(row: Row): readonly RowAction[]
  readonly filters?: readonly Filter[]
  /** The column that sorts the list unless the URL says otherwise, with `-` before it for descending. */
  readonly defaultSort?: string
  /** Shown if the list is empty without any filter. */
  readonly empty: ReactNode
  /** Repeats the request while the page is visible, for lists that change by themselves. */
  readonly refreshMs?: number | ((rows: readonly Row[]) => number)
}

/** A list with filters, sorting and paging in the URL. On narrow screens each row is a block. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { queryKey, load, filters = [], defaultSort, empty, refreshMs = false } = props
  const state = useListQuery(
    filters.map(({ name }) => name),
    defaultSort,
  )
  const list = useQuery({
    queryKey: [...queryKey, 'list', state.query],
    queryFn: ({ signal }) => load(state.query, signal),
    placeholderData: keepWithin(queryKey),
    staleTime: 0, // a list that was shown before may have changed: the page of a row, for example, changes it
    refetchInterval:
      typeof refreshMs === 'function' ? ({ state: { data } }) => refreshMs(data?.entry ?? []) : refreshMs,
  })
  const rows = list.data?.entry
  const isWhole = !state.isFiltered && state.query.cursor === undefined && !list.isPlaceholderData
  if (rows?.length === 0 && isWhole) return <>{empty}</>
  return (
    <div className="list" onKeyDown={onListKey}>
      {filters.length === 0 ? null : <Filters filters={filters} state={state} />}
      {list.isError ? <ProblemAlert error={list.error} onRetry={() => void list.refetch()} /> : null}
      {rows === undefined && list.isError ? null : rows?.length === 0 ? (
        <EmptyState
          title={tableTexts.noMatch}
          text={tableTexts.noMatchText}
          action={<ClearFilters variant="default" state={state} />}
        />
      ) : (
        <Rows {...props} rows={rows} state={state} isStale={list.isPlaceholderData} />
      )}
      <Paging next={list.data?.next ?? undefined} state={state} />
    </div>
  )
}

interface RowsProps<Row> extends DataTableProps<Row> {
  readonly rows: readonly Row[] | undefined
  readonly state: ListState
  readonly isStale: boolean
}

// The roles keep the meaning of the table where narrow screens display it as blocks.
function Rows<Row>({ label, columns, rows, rowKey, rowName, rowLink, rowActions, state, isStale }: RowsProps<Row>) {
  return (
    <div className="table-frame">
      <table className="table" role="table" aria-label={label} aria-busy={rows === undefined || isStale}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Heading key={column.name} column={column} state={state} />
            ))}
            {rowActions === undefined ? null : (
              <th role="columnheader" className="table-actions">
                <span className="hidden">{tableTexts.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows?.map((row) => {
            const link = rowLink?.(row)
            return (
              <tr role="row" key={rowKey(row)}>
                {columns.map((column, index) => (
                  <td
                    role={index === 0 ? 'rowheader' : 'cell'}
                    key={column.name}
                    className={classOf(column)}
                    data-label={column.label}
                  >
                    <div className="cell">
                      {index === 0 && link !== undefined ? (
                        <Link {...link} className="row-link" aria-label={rowName?.(row)}>
                          {column.render(row)}
                        </Link>
                      ) : (
                        column.render(row)
                      )}
                    </div>
                  </td>
                ))}
                {rowActions === undefined ? null : (
                  <td role="cell" className="table-actions">
                    <RowMenu actions={rowActions(row)} name={(rowName ?? rowKey)(row)} />
                  </td>
                )}
              </tr>
            )
          }) ?? <LoadingRows columns={columns.length + (rowActions === undefined ? 0 : 1)} />}
        </tbody>
      </table>
    </div>
  )
}

function classOf({ isRight, isMinor }: Pick<Column<never>, 'isRight' | 'isMinor'>): string {
  return [isRight === true ? 'right' : '', isMinor === true ? 'minor' : ''].join(' ').trim()
}

function Heading<Row>({ column, state }: { readonly column: Column<Row>; readonly state: ListState }) {
  const { name, label, isSortable = false, isRight = false, width } = column
  const order = state.query.sort === name ? 'ascending' : state.query.sort === `-${name}` ? 'descending' : undefined
  const [first, other] = isRight ? [`-${name}`, name] : [name, `-${name}`]
  const Icon = order === undefined ? ArrowUpDown : order === 'ascending' ? ArrowUp : ArrowDown
  return (
    <th role="columnheader" className={classOf(column)} style={{ width }} aria-sort={order}>
      {isSortable ? (
        <button
          type="button"
          className="sort"
          // The highest numbers come first: the slowest route is what one looks for.
          onClick={() => state.set({ sort: order === (isRight ? 'descending' : 'ascending') ? other : first })}
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

function LoadingRows({ columns }: { readonly columns: number }) {
  return Array.from({ length: 8 }, (_, row) => (
    <tr role="row" key={row}>
      {Array.from({ length: columns }, (_, column) => (
        <td role="cell" key={column}>
          <Skeleton height={12} width={column === 0 ? '60%' : '40%'} />
        </td>
      ))}
    </tr>
  ))
}

function RowMenu({ actions, name }: { readonly actions: readonly RowAction[]; readonly name: string }) {
  if (actions.length === 0) return null
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={`${tableTexts.actions}: ${name}`}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((action) => {
          const { label, isDanger, check, run } = action
          return check === undefined ? (
            <Menu.Item key={label} {...(isDanger === true ? { color: 'var(--bad)' } : {})} onClick={run}>
              {label}
            </Menu.Item>
          ) : (
            <CheckedItem key={label} action={{ ...action, check }} />
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}

/** An item that says why its action is not possible. It stays focusable, so that screen readers read the reason. */
function CheckedItem({ action: { label, check, run } }: { readonly action: Required<Omit<RowAction, 'isDanger'>> }) {
  const { data } = useQuery({ ...check, staleTime: 0 })
  const reason = data === undefined ? tableTexts.checking : data
  return (
    <Menu.Item
      // `disabled` would take the item out of the order of the arrow keys.
      renderRoot={(props) => <button type="button" {...props} aria-disabled={reason !== null} />}
      {...(reason === null ? {} : { 'data-blocked': true })}
      closeMenuOnClick={reason === null}
      onClick={() => {
        if (reason === null) run()
      }}
    >
      {label}
      {reason === null ? null : (
        <span className="menu-reason" dir="auto">
          {reason}
        </span>
      )}
    </Menu.Item>
  )
}

/** Leads through the pages of a list; nothing if there is only one. */
export function Paging({ next, state }: { readonly next: string | undefined; readonly state: ListState }) {
  if (next === undefined && state.query.cursor === undefined) return null
  return (
    <nav className="paging" aria-label={tableTexts.pages}>
      <Button variant="default" disabled={state.query.cursor === undefined} onClick={state.previous}>
        {state.hasPrevious ? tableTexts.previous : tableTexts.first}
      </Button>
      <Button variant="default" disabled={next === undefined} onClick={() => state.next(next!)}>
        {tableTexts.next}
      </Button>
      <p className="print-only soft">{tableTexts.part}</p>
    </nav>
  )
}
