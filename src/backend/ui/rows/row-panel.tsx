import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call, callWithEtag } from '../api/call.ts'
import { AuditLink } from '../components/access.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Dialog } from '../components/dialog.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { ReferenceLink } from './cell.tsx'
import { RowField } from './row-field.tsx'
import { filterBy, keyOf, nameRow, orderColumns, type Description, type Row, type TablePlace } from './row-values.ts'
import { panelTexts as texts } from './row-texts.ts'
import type { RowChange } from './undo.ts'
import { useRowEdit } from './use-row-edit.ts'

interface RowPanelProps {
  readonly place: TablePlace
  readonly description: Description
  /** Undefined for a new row. */
  readonly row: Row | undefined
  onDone(change: RowChange): void
  onClose(): void
}

/** A row beside the grid: all its columns, and the rows that refer to it. */
export function RowPanel({ place, description, row, onDone, onClose }: RowPanelProps) {
  const columns = orderColumns(description)
  const edit = useRowEdit(columns, row)
  const isNew = row === undefined
  const canAudit = useHasScope('backend.admin')
  const problem = isNew ? description.fixed.insert : description.fixed.change
  const save = async (): Promise<RowChange> => {
    const changed = await edit.save(async (values, ifMatch) => {
      if (isNew) return call('POST /table/:connection/:table/row', { params: { ...place }, body: values })
      const params = { ...place, key: keyOf(description, row) }
      return (await callWithEtag('PATCH /table/:connection/:table/row/:key', { params, body: values }, { ifMatch }))
        .data
    })
    return isNew ? { kind: 'add', row: changed } : { kind: 'change', row: changed, before: row, columns: edit.changed }
  }
  let done: RowChange | undefined
  const fields = (errorOf: (name: string) => string | undefined) => (
    <>
      {edit.hasConflict ? <p className="warnings">{texts.conflict}</p> : null}
      {columns.map((column) => (
        <RowField
          key={column.name}
          column={problem === null ? column : { ...column, fixed: true }}
          text={edit.draft[column.name]}
          error={errorOf(column.name)}
          isNew={isNew}
          isKey={description.key.includes(column.name)}
          isReference={description.references.some((one) => one.columns.includes(column.name))}
          reference={row && <ReferenceLink {...{ place, description, column, row }} />}
          onChange={(text) => edit.set(column.name, text)}
        />
      ))}
      {isNew ? null : <Referring place={place} description={description} row={row} />}
    </>
  )
  return (
    <Dialog title={isNew ? texts.new : texts.title(nameRow(description, row))} isSide size={480} onClose={onClose}>
      {problem !== null && !isNew ? (
        <div className="stack">{fields(() => undefined)}</div>
      ) : (
        <SaveForm
          action={isNew ? texts.addAction : texts.save}
          {...(isNew ? {} : { hasChanges: edit.changed.length > 0 })}
          onSave={async () => (done = await save())}
          onSaved={() => done && onDone(done)}
          onCancel={onClose}
        >
          {fields}
        </SaveForm>
      )}
      {isNew ? null : (
        <div className="row-actions">
          {description.fixed.delete === null ? <DeleteRow {...{ place, description, row, onDone }} /> : null}
          {canAudit ? (
            <AuditLink subject={`${place.connection}.${place.table}`} id={nameRow(description, row)} />
          ) : null}
        </div>
      )}
    </Dialog>
  )
}

type ExistingRowProps = Pick<RowPanelProps, 'place' | 'description'> & { readonly row: Row }

/** Links to the rows of other tables that refer to a row. */
function Referring({ place, description, row }: ExistingRowProps) {
  if (description.referring.length === 0) return null
  return (
    <section className="stack-small">
      <h3>{texts.refers}</h3>
      <ul>
        {description.referring.map(({ columns, table, to }) => (
          <li key={`${table} ${columns.join()}`}>
            <Link
              to="/tables/$name/rows"
              params={{ name: `${place.connection}.${table}` }}
              search={{
                filter: filterBy(
                  columns,
                  to.map((name) => row.values[name]),
                ),
              }}
            >
              <bdi translate="no">{table}</bdi>
            </Link>{' '}
            <bdi translate="no" className="soft">
              {columns.join(', ')}
            </bdi>
          </li>
        ))}
      </ul>
    </section>
  )
}

function DeleteRow({ place, description, row, onDone }: ExistingRowProps & Pick<RowPanelProps, 'onDone'>) {
  const [isAsking, setAsking] = useState(false)
  const key = nameRow(description, row)
  const children = description.referring.filter(({ on_delete: rule }) => rule !== null && rule !== 'restrict')
  return (
    <>
      <Button variant="subtle" color="var(--bad)" onClick={() => setAsking(true)}>
        {texts.delete}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={texts.deleteTitle(key)}
          action={texts.delete}
          isDanger
          onConfirm={async () => {
            const params = { ...place, key: keyOf(description, row) }
            await callWithEtag('DELETE /table/:connection/:table/row/:key', { params }, { ifMatch: row.etag })
            onDone({ kind: 'delete', row })
          }}
          onClose={() => setAsking(false)}
        >
          {children.length === 0 ? null : <p>{texts.deleteChildren(children.map(({ table }) => table))}</p>}
          <p>{texts.deleteText}</p>
        </ConfirmDialog>
      ) : null}
    </>
  )
}
