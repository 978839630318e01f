import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, useState, type ReactNode } from 'react'
import { tableTexts } from '../components/data-table-texts.ts'
import { Paging } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { lazyPart } from '../components/lazy-part.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { PageHeader } from '../components/page-header.tsx'
import { announce } from '../components/announce.tsx'
import { describeProblem, ProblemAlert } from '../components/problem.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { RowCount } from './row-count.tsx'
import { RowFilters } from './row-filters.tsx'
import { RowGrid } from './row-grid.tsx'
import { joinQuery, type Description, type Row, type TablePlace } from './row-values.ts'
import { exportFile } from './transfer.ts'
import { rowTexts as texts } from './row-texts.ts'
import { UndoBar } from './undo-bar.tsx'
import type { RowChange } from './undo.ts'
import { useRows } from './use-rows.ts'

const ImportDialog = lazyPart(() => import('./import-dialog.tsx'), 'ImportDialog')
const RowPanel = lazyPart(() => import('./row-panel.tsx'), 'RowPanel')

interface RowsViewProps {
  readonly place: TablePlace
  readonly description: Description
}

/** The rows of a table: filters, the grid, the panel of a row, and what undoes the last change. */
export function RowsView({ place, description }: RowsViewProps) {
  const { state, list } = useRows(place)
  const [opened, setOpened] = useState<Row | 'new' | 'import'>()
  const [last, setLast] = useState<RowChange>()
  const queries = useQueryClient()
  const refresh = () => void queries.invalidateQueries({ queryKey: ['rows', place.connection, place.table] })
  const close = () => setOpened(undefined)
  const canAdd = description.fixed.insert === null
  const isWhole = !state.isFiltered && state.query.cursor === undefined && !list.isPlaceholderData
  const isEmpty = list.data?.entry.length === 0 && isWhole
  const add = canAdd ? <Button onClick={() => setOpened('new')}>{texts.add}</Button> : undefined
  return (
    <div className="rows-page list">
      <RowsHeader place={place} action={isEmpty ? undefined : add}>
        {canAdd ? (
          <Button variant="default" onClick={() => setOpened('import')}>
            {texts.import}
          </Button>
        ) : null}
        <ExportButton place={place} filter={joinQuery(state.query['filter'], state.query.sort)} />
      </RowsHeader>
      <Notes description={description} />
      {isEmpty ? (
        <EmptyState title={texts.none} text={canAdd ? texts.noneText : texts.noneFixed} action={add} />
      ) : (
        <RowList {...{ place, description, state, list }} onOpen={setOpened} />
      )}
      {last === undefined ? null : (
        <UndoBar
          key={last.row.etag + last.kind}
          {...{ place, description }}
          change={last}
          onDismiss={() => setLast(undefined)}
          onUndone={() => {
            setLast(undefined)
            refresh()
          }}
        />
      )}
      <Suspense>
        {opened === 'import' ? (
          <ImportDialog {...{ place, description }} onImported={refresh} onClose={close} />
        ) : opened === undefined ? null : (
          <RowPanel
            {...{ place, description }}
            row={opened === 'new' ? undefined : opened}
            onClose={close}
            onDone={(change) => {
              close()
              setLast(change)
              refresh()
            }}
          />
        )}
      </Suspense>
    </div>
  )
}

interface RowListProps extends RowsViewProps, ReturnType<typeof useRows> {
  onOpen(row: Row): void
}

/** A page of rows with its filters. */
function RowList({ place, description, state, list, onOpen }: RowListProps) {
  const rows = list.data?.entry
  return (
    <>
      <div className="filters" role="search">
        <RowFilters description={description} state={state} />
        <RowCount key={state.query['filter']} place={place} filter={state.query['filter']} />
      </div>
      {list.isError ? <ProblemAlert error={list.error} onRetry={() => void list.refetch()} /> : null}
      {rows?.length === 0 ? (
        <EmptyState title={tableTexts.noMatch} text={tableTexts.noMatchText} />
      ) : rows === undefined ? null : (
        <RowGrid {...{ place, description, rows, state, onOpen }} isStale={list.isPlaceholderData} />
      )}
      <Paging next={list.data?.next ?? undefined} state={state} />
    </>
  )
}

interface RowsHeaderProps {
  readonly place: TablePlace
  readonly action: ReactNode
  readonly children: ReactNode
}

function RowsHeader({ place, action, children }: RowsHeaderProps) {
  const name = `${place.connection}.${place.table}`
  const canRead = useHasScope('backend.read')
  return (
    <PageHeader
      title={<bdi translate="no">{place.table}</bdi>}
      text={<bdi translate="no">{place.connection}</bdi>}
      mode={modeTexts.atOnce}
      action={action}
    >
      {canRead ? (
        <Button variant="default" renderRoot={(props) => <Link to="/tables/$name" params={{ name }} {...props} />}>
          {texts.structure}
        </Button>
      ) : null}
      {children}
    </PageHeader>
  )
}

/** Downloads the rows that the filters find, in their order. */
function ExportButton({ place, filter }: { readonly place: TablePlace; readonly filter: string | undefined }) {
  const exporting = useMutation({
    mutationFn: () => exportFile(place, filter),
    onError: (error) => announce(describeProblem(error).message),
  })
  return (
    <Button variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
      {texts.export}
    </Button>
  )
}

/** What is special about the table. */
function Notes({ description }: { readonly description: Description }) {
  const { fixed, hidden, internal } = description
  const notes = [
    ...(fixed.change === null ? [] : [texts.fixed(fixed.change)]),
    ...(hidden.length === 0 ? [] : [texts.hidden(hidden.map(({ name }) => name))]),
    ...(internal === null ? [] : [texts.internal(internal)]),
  ]
  return notes.map((note) => (
    <p key={note} className="soft">
      {note}
    </p>
  ))
}
